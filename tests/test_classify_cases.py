"""Classification of every real case, against counts that were made independently."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest
from support import case

from commscope.classify import CLASS_FAMILIES, ActivityClass, classes_of, families_of

H200 = {
    "a2a": (3, 3),
    "blocking_stdout": (222, 295),
    "busbw": (75, 75),
    "ddp_default": (19, 18),
    "ddp_nosteps": (24, 24),
    "ddp_shm_stdout": (6, 6),
    "ddp_small_buckets": (78, 78),
    "ddp_straggler": (23, 18),
    "fsdp": (60, 60),
    "tp": (36, 36),
}
REAL = {
    **{f"h200/{n}/rank{r}.json.gz": c for n, both in H200.items() for r, c in enumerate(both)},
    **{f"kineto/dlrm8_v100/rank{r}.json.gz": 8 for r in range(8)},
    **{f"amd/kineto/ddp4_unmerged/rank{r}.json.gz": 21 for r in range(4)},
    "amd/kineto/merged_ddp4_nccl_only.json.gz": 84,
    "amd/kineto/mi210_gpu_only.json.gz": 0,
    "amd/kineto/mi250_minitoy_rocm62.json.gz": 0,
    "amd/kineto/mi300_bert_small.json.gz": 0,
    "amd/kineto/mi300_falconsai_vit.json.gz": 0,
    "amd/kineto/mi300_resnet_ddp8_rank0.json.gz": 17,
    "amd/kineto/mi350_rocprofiler_sdk_backend.json.gz": 0,
    "amd/kineto/norm_layer.json.gz": 0,
    "amd/kineto/sglang_decode.json.gz": 0,
    "amd/kineto/vllm_decode_full.json.gz": 0,
    "kineto/a100_128gpu_sampled_rank0.json.gz": 10,
    "kineto/a100_128gpu_sampled_rank1.json.gz": 10,
    "kineto/a100_8gpu_rank3_a2a_allreduce.json.gz": 60,
    "kineto/a100_alexnet_nosteps.json.gz": 0,
    "kineto/a100_ddp2_rank0_ncclmeta.json.gz": 21,
    "kineto/edge_large_integer_rank70.json.gz": 1,
    "kineto/gp100_custom_step_annotation.json.gz": 0,
    "kineto/h100_bert_small.json.gz": 0,
    "kineto/mi300x_torch_compile_triton.json.gz": 0,
    "kineto/v100_ddp2_rank1_allreduce2020.json.gz": 2020,
    "kineto/v100_resnet50_oldschema_nw0.json.gz": 0,
}


def labels(names: list[str]) -> list[tuple[ActivityClass, str]]:
    """Class and family of each name."""
    found = zip(map(ActivityClass, classes_of(names)), families_of(names), strict=True)
    return [(of, CLASS_FAMILIES.get(of, family)) for of, family in found]


def durations(path: str) -> dict[str, list[float]]:
    """Durations of all kernels of a real Kineto file, by name."""
    document = json.loads(gzip.decompress(case(path).read_bytes()))
    events = document if isinstance(document, list) else document["traceEvents"]
    found: dict[str, list[float]] = {}
    for event in events:
        if event.get("ph") == "X" and str(event.get("cat", "")).lower() == "kernel":
            found.setdefault(event["name"], []).append(float(event["dur"]))
    return found


@pytest.mark.parametrize("path", REAL)
def test_real_kernels(path: str) -> None:
    kernels = durations(path)
    count: Counter[ActivityClass] = Counter()
    time_of: Counter[str] = Counter()
    for (of, family), each in zip(labels(list(kernels)), kernels.values(), strict=True):
        count[of] += len(each)
        time_of[family] += sum(each)
    assert count[ActivityClass.COMMUNICATION] == REAL[path]
    assert time_of["other"] < 0.02 * time_of.total()


def test_copy_kernels_of_rocm_are_no_compute() -> None:
    kernels = durations("amd/kineto/mi350_rocprofiler_sdk_backend.json.gz")
    classes = classes_of(list(kernels))
    copies = [n for n, of in zip(kernels, classes, strict=True) if of == ActivityClass.COPY]
    assert sum(len(kernels[n]) for n in copies) == 2
    assert all(name.startswith("__amd_rocclr_") for name in copies)


def test_a_rocprofv3_trace_of_a_training() -> None:
    path = case("amd/rocprofv3_json/mi350_train_908_results.json.gz")
    tool = json.loads(gzip.decompress(path.read_bytes()))["rocprofiler-sdk-tool"][0]
    names = {k["kernel_id"]: k["formatted_kernel_name"] for k in tool["kernel_symbols"]}
    of_id = dict(zip(names, labels(list(names.values())), strict=True))
    count = Counter(
        of_id[d["dispatch_info"]["kernel_id"]] for d in tool["buffer_records"]["kernel_dispatch"]
    )
    assert count[ActivityClass.COMMUNICATION, "communication"] == 1310
    assert count.total() == 43_915
    assert count[ActivityClass.COMPUTE, "other"] == 0
