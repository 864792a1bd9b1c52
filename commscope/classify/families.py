"""Families of compute kernels: the rules, in the order in which they are tried.

A rule is a family and a regular expression over the head of a name (see ``kernel_name``). Heads
that are mere launchers (``cutlass::Kernel``, ``ck_tile::kentry``, ``multi_tensor_apply_kernel``)
are decided by what they launch, in the body. No expression nests quantifiers.
"""

from __future__ import annotations

import re

from commscope.classify.kernel_name import KernelName

COMMUNICATION = "communication"
COPY = "copy"
OTHER = "other"

COMPUTE_FAMILIES = (
    "gemm",
    "attention",
    "convolution",
    "norm",
    "softmax",
    "elementwise",
    "reduction",
    "optimizer",
    "embedding",
    "migraphx",
    "triton",
    OTHER,
)
#: Every family a name can have.
FAMILIES = (COMMUNICATION, COPY, *COMPUTE_FAMILIES)

_Rules = tuple[tuple[str, re.Pattern[str]], ...]


def _rules(*rules: tuple[str, str]) -> _Rules:
    return tuple((family, re.compile(pattern, re.IGNORECASE)) for family, pattern in rules)


_ATTENTION = (
    r"flash(?!infer)|fmha|attn|attention|sdpa|paged_?kv|gated_delta"
    r"|(?:^|_|::)(?:mla|mha|pa)_"
    r"|with(?:paged|ragged)?kvcache|mergestates?"
    r"|compute_dot_do_o|convert_dq"  # cuDNN, around its backward
    r"|^bwd_kernel_fuse|^_bwd_preprocess|^_bwd_kernel_d[kq]|^_fwd_(?:grouped_)?kernel"
)
#: MIOpen, cuDNN, CK and PyTorch's own. The layout changes that these libraries make around a
#: convolution are part of its price.
_CONVOLUTION = (
    r"conv(?!er)|cudnn|im(?:[23]d)?2col|col2im|winograd|igemm_(?:fwd|bwd|wrw)"
    r"|xmma_(?:fprop|dgrad|wgrad)"
    r"|bwd_(?:weight|data)|batched_transpose_\d|(?:nchw|nhwc|cnhw)_?(?:to|2)|flip_filter"
    r"|fft[12]d_[rc]2[rc]|compute_gemm_pointers"
)
_NORM = (
    r"(?<!re)(?<!lp)norm(?!al(?!iz)|_two)|asmbn|(?:^|_|::)ln_(?:fwd|bwd|parallel)|welford"
    r"|rowwisemoments|gradgammabeta|gammabetabackward|compute\w*fusedparams|internalgradients"
)
_GEMM = (
    r"(?<!fb)gemm|gem[vk]|nvjet|splitk|mat(?:rix)?_?mul|mul_mat|wmma|mfma|flatmm|llmm|addmm|bmm"
    r"|(?:cu|roc|hip)blas|grouped_mm|fmoe|moe_kernel|marlin|(?:^|_)moe[_a-z]*stage\d"
)
_OPTIMIZER = (
    r"adam|adagrad|adafactor|rmsprop|novograd|optimizer|amp_update_scale"
    r"|(?<![a-z])(?:lamb|lans|lion|sgd|muon)(?![a-z])"
)
_EMBEDDING = (
    r"embedding|embedd|_embs|krn_partial|compute_grad_weight|partial_segments|sum_and_scatter"
    r"|indexselect|vectorized_gather|linearize_(?:cache_)?ind|bounds_check_ind|lxu_cache|tbe_"
    r"|recat_|permute_(?:1d|2d|sparse|pooled)|jagged|block_bucketize|offsets_range|permute_indices"
)
#: Reductions, and their kin that need all elements: scans, sorts, selections, pooling, losses.
_REDUCTION = (
    r"reduce|reduction|(?:^|_|::)sum(?:_|$)|cumsum|prefix_?sum|scan|sort|top_?k|select|partition"
    r"|histogram|bincount|unique|nonzero|arg_?m(?:ax|in)|pool|radix|bitonic|lookback|merge|segment"
    r"|nll_?loss|nllcriterion|(?:^|_)loss|entropy|lpnorm|dot_kernel|multinomial|sampling"
    r"|moe_(?:align|sum)|routing"
)
_ELEMENTWISE = (
    r"copy|(?:^|_|::)cat(?:_|$)|concat|chunk|split_with_sizes|fill|zero|memset|cast|convert|dense"
    r"|transpose|permute|flip|(?:^|_)roll|pad(?:_|$|ding)|upsample|interpolat|tri[ul](?:_|$)"
    r"|ind(?:ex|ices)|scatter|gather|(?:get|set)_rows|cache|where|mask|clamp|arange|linspace"
    r"|act_and_mul|activation|silu|gelu|relu|glu(?![a-z])|sigmoid|tanh|softplus|rope|rotary"
    r"|dropout|distribution|bernoulli|random|philox|quant|qparam|fp8|scal(?:e|ar|al)?(?:_|$)"
    r"|subtensorop|op[1-5]dtensor|optensor|unary|binary|pointwise|transform|for_?each"
    r"|bcast|broadcast|device_load"
    r"|(?:^|_|::)(?:add|addition|sub|subtract|mul|multiply|div|divide)(?:_|$)"
    r"|(?:^|_|::)(?:pow|sqrt|exp|log|neg|abs)(?:_|$)"
    r"|(?:^|_)(?:loop|wrapped)_"  # XLA
    r"|(?:^|::)compute_cuda_kernel$"  # repeat_interleave
)

#: What a kernel is called decides; the first rule that fits wins.
_BY_HEAD = _rules(
    ("attention", r"^triton_tem_\w*attention"),
    ("triton", r"^triton_"),
    ("migraphx", r"^mlir_|migraphx"),
    ("gemm", r"^(?:custom_)?cijk_"),
    ("elementwise", r"elementwise|catarray|reshape_and_cache|rotary|rope(?![a-z])"),
    ("embedding", _EMBEDDING),
    ("optimizer", _OPTIMIZER),
    ("norm", r"(?:^|_|::)bn_(?:fw|bw)|batch_?norm"),  # before convolution: cuDNN has these too
    ("attention", _ATTENTION),
    ("softmax", r"soft_?max|cross_?entropy"),
    ("convolution", _CONVOLUTION),
    ("norm", _NORM),
    ("gemm", _GEMM),
    ("reduction", _REDUCTION),
    ("elementwise", _ELEMENTWISE),
)

_FOREACH = re.compile(r"multi_tensor_apply", re.IGNORECASE)
_BY_FOREACH_BODY = _rules(
    ("reduction", r"norm(?!al)|maxop"),
    ("elementwise", r"\bCopy(?:Functor)?<"),
    ("optimizer", _OPTIMIZER + r"|lambstage|pointwiseop|binaryop|unaryop|ternaryop|lerp"),
    ("elementwise", r"."),
)

_LAUNCHER = re.compile(
    r"cutlass|^ck_tile::|(?:^|::)(?:cub|rocprim|hipcub|thrust)::|^internal::|^std::",
    re.IGNORECASE,
)
_BY_LAUNCHER_BODY = _rules(
    ("attention", r"flash(?!infer)|fmha|attention|mha_"),
    ("convolution", r"cudnn|convolution|::conv::|4conv\d|_fprop_|_dgrad_|_wgrad_"),
    ("norm", r"(?:rms|layer|batch|group)_?norm"),
    ("softmax", r"softmax"),
    ("gemm", r"gemm|flatmm|matmul"),
    ("reduction", r"reduce|scan|sort|select|partition|moesorting"),
    ("elementwise", r"transform|elementwise|for_each|copy"),
)

#: Last resort: a type in the arguments gives the library away.
_BY_BODY = _rules(
    ("gemm", r"cublas|rocblas|ggml_type"),
    ("convolution", r"cudnn"),
)


def compute_family(name: KernelName) -> str:
    """The family of a compute kernel, ``other`` where no rule knows it."""
    if _FOREACH.search(name.head):
        return _first(_BY_FOREACH_BODY, name.body) or OTHER
    if _LAUNCHER.search(name.head):
        return _first(_BY_LAUNCHER_BODY, name.head + name.body) or _by_head(name)
    return _by_head(name)


def _by_head(name: KernelName) -> str:
    return _first(_BY_HEAD, name.head) or _first(_BY_BODY, name.body) or OTHER


def _first(rules: _Rules, text: str) -> str | None:
    return next((family for family, pattern in rules if pattern.search(text)), None)
