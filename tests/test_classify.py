"""Classes, families and operations by name, over the spellings of every library."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from commscope.classify import (
    CLASS_FAMILIES,
    FAMILIES,
    ActivityClass,
    Patterns,
    canonical_op,
    classes_of,
    dtype_bytes,
    families_of,
    op_from_name,
)
from commscope.classify.kernel_name import EXAMINED, split
from commscope.errors import UsageError


def one(name: str, patterns: Patterns | None = None) -> tuple[ActivityClass, str]:
    given = patterns or Patterns()
    of = ActivityClass(classes_of([name], given)[0])
    return of, CLASS_FAMILIES.get(of, families_of([name], given)[0])


COMMUNICATION = [
    # NCCL and RCCL, oldest generation first
    ("void AllReduceKernel<256, 4, FuncSum<float>, float>(KernelArgs<float>)", "all_reduce"),
    ("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "all_reduce"),
    ("ncclReduceScatterTreeLL128Kernel_sum_f16(ncclColl)", "reduce_scatter"),
    ("ncclBroadcastRingKernel_copy_i8(ncclColl)", "broadcast"),
    ("ncclSendRecvKernel_copy_i8(ncclColl)", "send_recv"),
    ("ncclKernel_AllReduce", "all_reduce"),
    ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "all_reduce"),
    ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long)", "send_recv"),
    ("ncclKernel_AllToAllPivot_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", "all_to_all"),
    ("ncclKernel_Reduce_RING_LL_Sum_float(ncclDevComm*)", "reduce"),
    ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "all_gather"),
    ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevComm*)", "reduce_scatter"),
    ("ncclDevKernel_Reduce_Sum_f32_TREE_SIMPLE(ncclDevComm*)", "reduce"),
    ("ncclSymDevKernel_AllGather_LLMC(ncclSymDevArgs)", "all_gather"),
    ("ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkArgs)", "all_reduce"),
    ("ncclSymkDevKernel_ReduceScatter_RailA2A_LsaLD_sum_f32", "reduce_scatter"),
    ("ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)", None),
    ("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", None),
    ("ncclDevKernelDebug_Generic(ncclDevKernelArgsStorage<4096ul>)", None),
    ("ncclDevKernel_Generic_1.kd", None),
    ("_Z23ncclDevKernel_Generic_124ncclDevKernelArgsStorageILm4096EE", None),
    ("void rcclGenericKernel<1, false>(ncclDevComm*)", None),
    ("rccl_main_kernel", None),
    # MSCCL, MSCCL++: the word after mscclKernel is a reduction operator, not a collective
    ("mscclKernel_Sum_half_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)", None),
    ("mscclKernel_AllReduce_float_LL128_true(ncclDevComm*)", "all_reduce"),
    ("void mscclpp::collective::allreducePacket<float>(float*)", "all_reduce"),
    ("void mscclpp::collective::allgatherFullmesh2<true>(void*)", "all_gather"),
    ("void mscclpp::executionKernel<__half, mscclpp::LL16Packet>(int)", None),
    ("void allreduce7<__half>(__half*)", "all_reduce"),
    # mixture of experts
    ("void deep_ep::intranode::dispatch<8, 768, 4096>(int4*)", "all_to_all"),
    ("void deep_ep::intranode::cached_notify_combine<8>(void**)", "all_to_all"),
    ("_ZN7deep_ep12internode_ll7combineILb1ELi7168EEEvPvS1_", "all_to_all"),
    ("void primus_turbo::deep_ep::internode::notify_dispatch<false, 8>(int)", "all_to_all"),
    ("void deep_ep::layout::get_dispatch_layout<256, 4, 8>(long const*)", None),
    ("void deep_ep::intranode::barrier<8>(int**, int)", "barrier"),
    ("EpDispatchIntraNodeKernel_bf16", "all_to_all"),
    ("void mori::moe::EpCombineInterNodeV1Kernel<float>(int)", "all_to_all"),
    ("tensorrt_llm::kernels::moe_comm::moeAllToAllKernel<4>(int)", "all_to_all"),
    # vLLM, SGLang, aiter, FlashInfer, TensorRT-LLM, Transformer Engine
    ("void vllm::cross_device_reduce_1stage<__hip_bfloat16, 8>(vllm::RankData*)", "all_reduce"),
    ("void sglang::cross_device_reduce_2stage<float, 4>(sglang::RankData*)", "all_reduce"),
    ("_ZN5aiter26cross_device_reduce_2stageIDF16bLi8ELb0EEEvPNS_8RankDataE", "all_reduce"),
    ("void aiter::allreduce_fusion_kernel_1stage<__hip_bfloat16, 4, true>(int)", "all_reduce"),
    ("void aiter::reduce_scatter_cross_device_store<__half, 8>(int)", "reduce_scatter"),
    ("void aiter::allgather_lastdim<float, 8>(int)", "all_gather"),
    ("void quickreduce::allreduce_prototype_twoshot<quickreduce::X<int>, int>()", "all_reduce"),
    (
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1>()",
        "all_reduce",
    ),
    ("void flashinfer::trtllm_mnnvl_allreduce::rmsNormLamport<8, __half>(int)", "all_reduce"),
    ("void tensorrt_llm::kernels::twoShotAllReduceKernel<__half, 8>(int)", "all_reduce"),
    ("kuserbuffers_pushsend(int*, int*, int4*, int4*, int)", "send"),
    ("userbuffers_fp16_sum_inplace_gpu_rw", "all_reduce"),
    # symmetric memory, SHMEM
    ("void (anonymous namespace)::one_shot_all_reduce_kernel<float, 16, 8>(float**)", "all_reduce"),
    ("two_shot_all_reduce_kernel", "all_reduce"),
    ("void (anonymous namespace)::multimem_one_shot_reduce_kernel<float>(float*)", "reduce"),
    ("void (anonymous namespace)::multimem_all_gather_kernel<16>(char*)", "all_gather"),
    ("c10d::symmetric_memory::barrier_kernel(unsigned int**, int, int)", "barrier"),
    ("nvshmemi_transfer_amo_nonfetch", None),
    ("void alltoall_on_stream_kernel<float>(int)", "all_to_all"),
    ("void rocshmem::rocshmem_barrier_all_kernel(int)", "barrier"),
]


@pytest.mark.parametrize(("name", "op"), COMMUNICATION)
def test_communication(name: str, op: str | None) -> None:
    assert one(name) == (ActivityClass.COMMUNICATION, "communication")
    assert op_from_name(name) == op


COPIES = [
    "__amd_rocclr_copyBuffer",
    "__amd_rocclr_copyBufferRectAligned",
    "__amd_rocclr_fillBufferAligned.kd",
    "Memcpy HtoD (Pinned -> Device)",
    "Memcpy PtoP (Device -> Device)",
    "Memset (Device)",
    "[CUDA memcpy Device-to-Device]",
    "[CUDA memset]",
    "MEMORY_COPY_DEVICE_TO_HOST",
    "HOST_TO_DEVICE",
    "CopyHostToDevice",
    "CopyDeviceToDevice",
    "FillBuffer",
]


@pytest.mark.parametrize("name", COPIES)
def test_copies(name: str) -> None:
    assert one(name) == (ActivityClass.COPY, "copy")
    assert op_from_name(name) is None


COMPUTE = [
    # names with a word of a collective that are none
    ("void at::native::reduce_kernel<512, 1, ReduceOp<float, all_reduce> >()", "reduction"),
    ("void small_reduce_kernel<float>(float*)", "reduction"),
    ("void at::native::elementwise_kernel<4, ncclDevKernel_AllReduce>(int)", "elementwise"),
    ("void broadcast_add_kernel<float>(float*, ncclDevComm*)", "elementwise"),
    ("triton_poi_fused_all_gather_into_tensor_wait_tensor_3", "triton"),
    ("void fused_gemm_all_reduce<float>(float*)", "gemm"),
    ("void aiter::local_device_load_rmsnorm_512n<__hip_bfloat16, 2>(float)", "norm"),
    ("void at::native::_scatter_gather_elementwise_kernel<128, 4, int>(int)", "elementwise"),
    ("hipMemcpyAsync", "other"),
    ("hipLaunchKernel", "other"),
    # GEMM
    ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN", "gemm"),
    ("Custom_Cijk_Ailk_Bjlk_HHS_BH_MT128x64x32", "gemm"),
    ("void rocblas_gemvt_sn_kernel<false, 256, 4, int, float const*>(bool)", "gemm"),
    ("void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm<int>, true>(int)", "gemm"),
    ("void ck_tile::kentry<1, ck_tile::BatchedGemmKernel<int> >(int)", "gemm"),
    ("void aiter::bf16gemm_fp32bf16_tn_96x64_splitk_clean(void)", "gemm"),
    ("_ZN5aiter28fmoe_bf16_blockscaleFp8_novsE", "gemm"),
    ("fused_moe_kernel", "gemm"),
    ("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "gemm"),
    ("nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "gemm"),
    ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_cublas", "gemm"),
    ("ampere_sgemm_128x64_nn", "gemm"),
    ("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16>()", "gemm"),
    ("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float>(int)", "gemm"),
    ("void cublasLt::splitKreduce_kernel<32, 16, int>(cublasSplitKParams)", "gemm"),
    ("void cublasLt::epilogue::impl::globalKernel<float>(cublasLtEpilogue_t)", "gemm"),
    # attention
    ("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64> >()", "attention"),
    ("void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<int>(int)", "attention"),
    ("void cutlass::device_kernel<flash::FlashAttnFwdSm90<int> >(int)", "attention"),
    ("fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::Params)", "attention"),
    ("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26", "attention"),
    ("void ck_tile::kentry<1, ck_tile::FmhaFwdKernel<int> >(int)", "attention"),
    ("_ZN5aiter24fmha_fwd_hd128_bf16_rtneE", "attention"),
    ("void kn_mla_reduce_v1<MlaReduceKernelV1Traits<512, 128, 1>, float>(int)", "attention"),
    ("void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, 128>(int)", "attention"),
    ("void flashinfer::BatchPrefillWithPagedKVCacheKernel<float>(int)", "attention"),
    ("attn_fwd", "attention"),
    ("_attn_bwd", "attention"),
    ("bwd_kernel_fuse", "attention"),
    ("kernel_unified_attention_2d", "attention"),
    ("triton_tem_fused_flex_attention_0", "attention"),
    # convolution
    ("miopenSp3AsmConv_v30_3_1_gfx9_fp16_dot2_edc_f2x3_stride1", "convolution"),
    ("igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8", "convolution"),
    ("naive_conv_nonpacked_wrw_nchw_half_double_half", "convolution"),
    ("batched_transpose_16x32_half", "convolution"),
    ("Im2d2Col", "convolution"),
    ("Im2Col", "convolution"),
    ("_ZN2ck6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3IiEEvT_", "convolution"),
    ("_ZN2ck6device37kernel_batched_gemm_xdlops_bwd_weightIiEEvT_", "convolution"),
    ("void gridwise_convolution_implicit_gemm_v4r1<int>(int)", "convolution"),
    ("void implicit_convolve_sgemm<float, float, 1024>(int)", "convolution"),
    ("sm80_xmma_dgrad_implicit_gemm_tf32f32_nhwckrsc_nhwc_cudnn_infer", "convolution"),
    ("void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688fprop>()", "convolution"),
    ("volta_scudnn_128x64_stridedB_splitK_xregs_large_nn_v1", "convolution"),
    # norm, softmax
    ("MIOpenBatchNormFwdTrainSpatial", "norm"),
    ("void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float)", "norm"),
    ("void at::native::batch_norm_backward_kernel<float, float, float, int>(int)", "norm"),
    (
        "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<float>()",
        "norm",
    ),
    ("void ck_tile::kentry<1, ck_tile::Rmsnorm2dFwd<int> >(int)", "norm"),
    ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256EEEvPT0_", "norm"),
    ("void flashinfer::norm::FusedAddRMSNormKernel<8, __half>(__half*)", "norm"),
    ("void transformer_engine::normalization::ln_fwd_tuned_kernel<int>(int)", "norm"),
    ("void (anonymous namespace)::softmax_warp_forward<float, 10, true>()", "softmax"),
    ("void at::native::cunn_SoftMaxBackward<4, float, float, float>(float*)", "softmax"),
    # elementwise, reduction
    ("void at::native::unrolled_elementwise_kernel<direct_copy_kernel_cuda>()", "elementwise"),
    ("void (anonymous namespace)::elementwise_kernel_with_index<int, int>(int)", "elementwise"),
    ("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>()", "elementwise"),
    ("SubTensorOpWithScalar1d", "elementwise"),
    ("void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)", "elementwise"),
    ("_ZN7sgl_hip10activation18act_and_mul_kernelIiEEvPT_", "elementwise"),
    ("void vllm::reshape_and_cache_flash_kernel<int>(int)", "elementwise"),
    ("void cub::DeviceRadixSortOnesweepKernel<cub::Policy, false, long>(int*)", "reduction"),
    ("void rocprim::detail::trampoline_kernel<wrapped_scan_config<int> >()", "reduction"),
    ("void at::native::max_pool_forward_nchw<float, float>(int, float const*)", "reduction"),
    # optimizer, embedding
    ("void multi_tensor_apply_kernel<M<4>, AdamFunctor<float>, float>(int)", "optimizer"),
    (
        "void at::native::multi_tensor_apply_kernel<M<4>, FusedAdamMathFunctor>()",
        "optimizer",
    ),
    ("void multi_tensor_apply_kernel<M<2>, at::native::LpNormFunctor<float> >(int)", "reduction"),
    ("void multi_tensor_apply_kernel<M<2>, CopyFunctor<float, float> >(int)", "elementwise"),
    ("void kOptimizerStatic8bit2StateBlockwise<float, 0, 2048, 8>(float*)", "optimizer"),
    ("void at::native::(anonymous namespace)::indexSelectLargeIndex<float>()", "embedding"),
    ("split_embedding_backward_codegen_rowwise_adagrad_kernel_cta_per_row_1", "embedding"),
    ("void fbgemm_gpu::permute_2D_data_kernel<false, int>(int)", "embedding"),
    ("void fbgemm_gpu::_FP8rowwise_to_float_cuda_kernel<float>(int)", "elementwise"),
    # the rest
    ("mlir_convolution_add_relu", "migraphx"),
    ("triton_red_fused_add_mean_mul_pow_rsqrt_0", "triton"),
    ("void laplacian_kernel<double>(double*, double const*, int) [clone .kd]", "other"),
    ("", "other"),
]


@pytest.mark.parametrize(("name", "family"), COMPUTE)
def test_compute(name: str, family: str) -> None:
    assert one(name) == (ActivityClass.COMPUTE, family)
    assert op_from_name(name) is None


def test_names_keep_their_order() -> None:
    names = ["attn_fwd", "Memset (Device)", "ncclDevKernel_Generic(int)", "attn_fwd"]
    classes = classes_of(names)
    assert classes.dtype == "uint8"
    assert classes.tolist() == [0, 2, 1, 0]
    assert families_of(names)[::3] == ("attention", "attention")
    assert classes_of([]).shape == (0,)
    assert families_of([]) == ()


@given(st.text(alphabet=st.sampled_from("_ZN<>():: 19anclreduvoid"), max_size=80))
def test_any_text_has_a_class_and_a_family(name: str) -> None:
    of, family = one(name)
    assert family in FAMILIES
    assert (family == "communication") == (of is ActivityClass.COMMUNICATION)
    assert (family == "copy") == (of is ActivityClass.COPY)


@given(st.text(max_size=200))
def test_no_text_of_a_name_is_lost_when_split(name: str) -> None:
    assume(not name.startswith("_Z"))
    head, body = split(name)
    assert name.strip().endswith(head + body)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("void a::b<int>(int)", "a::b"),
        ("a::(anonymous namespace)::b(int)", "a::b"),
        ("void (anonymous namespace)::b<int>()", "b"),
        ("kernel [clone .kd]", "kernel"),
        ("kernel.kd", "kernel"),
        ("_ZN1a12_GLOBAL__N_13bcdIiEEvT_", "a::bcd"),
        ("_ZL3abci", "abc"),
        ("_Z", "_Z"),
        ("_ZN999a", "a"),
    ],
)
def test_head_of_a_name(name: str, head: str) -> None:
    assert split(name).head == head


def test_only_the_front_of_a_name_is_looked_at() -> None:
    beyond = "x" * EXAMINED + "ncclDevKernel_AllReduce"
    assert one(beyond) == (ActivityClass.COMPUTE, "other")
    front = "ncclDevKernel_AllReduce(" + "x" * 1_000_000
    assert one(front)[0] is ActivityClass.COMMUNICATION


# ---- patterns of the user


def test_user_patterns_win() -> None:
    patterns = Patterns.parse(
        [
            "communication=^my_ring",
            "copy=^blit",
            "compute=^ncclDevKernel_Mock",
            "gemm=^fast_mm",
            "attention=copyBuffer",
        ]
    )
    assert one("my_ring<int>()", patterns) == (ActivityClass.COMMUNICATION, "communication")
    assert one("blit_kernel", patterns) == (ActivityClass.COPY, "copy")
    assert one("ncclDevKernel_Mock(int)", patterns) == (ActivityClass.COMPUTE, "other")
    assert one("fast_mm_32", patterns) == (ActivityClass.COMPUTE, "gemm")
    assert one("__amd_rocclr_copyBuffer", patterns) == (ActivityClass.COMPUTE, "attention")
    assert one("ncclDevKernel_Generic(int)", patterns)[0] is ActivityClass.COMMUNICATION


def test_user_classes_come_before_user_families() -> None:
    patterns = Patterns.parse(["gemm=both", "communication=both"])
    assert one("both", patterns) == (ActivityClass.COMMUNICATION, "communication")


def test_user_patterns_search_the_whole_name_and_may_hold_an_equals_sign() -> None:
    patterns = Patterns.parse(["communication=<Op=ring>"])
    assert one("void k<Op=ring>(int)", patterns)[0] is ActivityClass.COMMUNICATION


def test_patterns_join_with_the_first_ones_first() -> None:
    joined = Patterns.parse(["gemm=a", "copy=c"]).with_others(Patterns.parse(["norm=a", "gemm=b"]))
    assert one("a", joined)[1] == "gemm"
    assert one("b", joined)[1] == "gemm"
    assert one("c", joined)[1] == "copy"
    assert list(joined.families) == ["gemm", "norm"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("communication", "expected NAME=REGEX"),
        ("comm=x", "unknown class or family 'comm'; use one of communication, compute, copy, gemm"),
        ("gemm=(", "pattern gemm=(: not a regular expression"),
        ("gemm=", "is empty"),
    ],
)
def test_a_bad_pattern_is_named(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)) as caught:
        Patterns.parse(["norm=fine", text])
    assert text in str(caught.value)


# ---- operations and types


SPELLINGS = {
    "all_reduce": """allreduce ALLREDUCE allreduce_coalesced nccl:all_reduce c10d::allreduce_
        ncclAllReduce""",
    "all_gather": """allgather _allgather_base allgather_into_tensor_coalesced all_gather
        nccl:_all_gather_base c10d::_allgather_base_ _c10d_functional::all_gather_into_tensor""",
    "reduce_scatter": """reduce_scatter _reduce_scatter_base reduce_scatter_tensor_coalesced
        nccl:_reduce_scatter_base ncclReduceScatter""",
    "all_to_all": """all_to_all all_to_allv alltoall alltoall_base nccl:all_to_all
        c10d::alltoall_base_ ncclAllToAllv""",
    "broadcast": "broadcast _broadcast_oop ncclBcast c10d::broadcast_",
    "reduce": "reduce _reduce_oop nccl:reduce",
    "send": "send nccl:send",
    "recv": "recv c10d::recv_any_source_",
    "gather": "gather",
    "scatter": "scatter",
    "barrier": "barrier nccl:all_reduce_barrier",
}


@pytest.mark.parametrize(("op", "texts"), SPELLINGS.items())
def test_operations_in_one_set_of_words(op: str, texts: str) -> None:
    assert {text: canonical_op(text) for text in texts.split()} == dict.fromkeys(texts.split(), op)


def test_the_peer_behind_a_send_is_no_part_of_it() -> None:
    assert canonical_op("nccl:send 0->1") == "send"
    assert canonical_op("nccl:recv 0<-1") == "recv"


@pytest.mark.parametrize(
    "text", ["wait", "init", "coalesced", "", "ncclGroupEnd", "nccl:", "aten::add"]
)
def test_what_is_no_operation(text: str) -> None:
    assert canonical_op(text) is None


@pytest.mark.parametrize(
    ("size", "names"),
    [
        (1, "Byte Char Bool Float8_e4m3fn Float8_e5m2 Float8_e4m3fnuz Float8_e5m2fnuz"),
        (2, "BFloat16 Half Short torch.bfloat16"),
        (4, "Float Int ComplexHalf"),
        (8, "Double Long ComplexFloat"),
        (16, "ComplexDouble"),
    ],
)
def test_bytes_of_a_type(size: int, names: str) -> None:
    assert {name: dtype_bytes(name) for name in names.split()} == dict.fromkeys(names.split(), size)
    assert dtype_bytes("Undefined") is None
