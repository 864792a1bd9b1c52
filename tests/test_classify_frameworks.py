"""Kernels with which frameworks communicate outside of NCCL and RCCL, and names like theirs."""

from __future__ import annotations

import pytest

from commscope.classify import ActivityClass, classes_of, op_from_name

COMMUNICATION: dict[str, dict[str, str | None]] = {
    "vLLM, SGLang, aiter": {
        "void vllm::cross_device_reduce_1stage<float, 8>(vllm::RankData*)": "all_reduce",
        "void sglang::cross_device_reduce_2stage<__half, 4>(int)": "all_reduce",
        "void aiter::cross_device_reduce_1stage_naive<__hip_bfloat16, 4>(int)": "all_reduce",
        "void aiter::allreduce_fusion_kernel_2stage<__hip_bfloat16, 8>(int)": "all_reduce",
        "void quickreduce::allreduce_prototype_twoshot<quickreduce::X<int> >()": "all_reduce",
    },
    "MSCCL, NCCL and RCCL": {
        "mscclKernel_Sum_half_LL128_true(ncclDevComm*, mscclAlgo*, mscclWork*)": None,
        "ncclDevKernel_Generic_2(ncclDevKernelArgsStorage<4096ul>)": None,
        "void (anonymous namespace)::oneRankReduce<FuncPreMulSum<float> >(void*)": None,
    },
    "DeepEP and its kin": {
        "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>(int4*)": "all_to_all",
        "void deep_ep::internode::dispatch<false, 8>(int4*)": "all_to_all",
        "void deep_ep::internode_ll::clean_low_latency_buffer<256>(int*)": None,
        "EpDispatchInterNodeV1KernelLowLatency_bf16": "all_to_all",
        "_ZN4mori3moe25EpCombineIntraNodeKernelI14__hip_bfloat16EEvv": "all_to_all",
        "void mori::moe::ConvertDispatchOutputKernel(mori::moe::Args)": None,
        "void mori::moe::EpDispatchCombineResetKernel<float>(int)": None,
        "void mori::collective::OneShotAll2allKernel<float>(int)": "all_to_all",
        "void a2a_dispatch_send_kernel<true, 16>(unsigned long)": "all_to_all",
        "void a2a_combine_recv_kernel<true, 16>(unsigned long)": "all_to_all",
        "tensorrt_llm::kernels::moe_a2a::moeA2ACombineKernel<8>(int)": "all_to_all",
        "tensorrt_llm::kernels::moe_a2a::moeA2APrepareDispatchKernel(int*)": None,
    },
    "PyTorch's symmetric memory": {
        "void (anonymous namespace)::multimem_all_reduce_kernel<float, 16>(float*)": "all_reduce",
        "void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<float>(int)": "all_reduce",
        "c10d::symmetric_memory::wait_signal_kernel(unsigned int**, int, int)": None,
        "c10d::nvshmem_extension::exchangeSplitAndOffset(long*, int, int)": None,
        "c10d::nvshmem_extension::allToAllV(void*, void*, long*)": "all_to_all",
    },
    "Transformer Engine": {
        "userbuffers_fp16_sum_inplace_gpu_mc(int, int, int)": "all_reduce",
        "void userbuffers_fp16_sum_inplace_gpu_rw_ag<8>(int, int)": "all_gather",
        "void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop_fp8<8, float>(int)": "reduce_scatter",
        "kuserbuffers_pushrecv(int, int, int, int*, int*, int, int*)": "recv",
    },
    "FlashInfer, TensorRT-LLM": {
        "void flashinfer::x::allreduce_fusion_kernel_oneshot_lamport<1, 8>()": "all_reduce",
        "void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8>(int)": "all_reduce",
    },
    "NVSHMEM": {
        "barrier_on_stream_kernel_threadgroup": "barrier",
        "barrier_all_on_stream_kernel_warp()": "barrier",
        "nvshmemi_signal_wait_until_on_stream_kernel": None,
    },
    "Iris, Triton-distributed": {
        "persistent_all_reduce_two_shot": "all_reduce",
        "persistent_all_scatter": "all_gather",
        "barrier_all_ipc": "barrier",
        "barrier_all_intra_node_non_atomic": "barrier",
    },
}

#: Kernels that compute, for all that is in their names.
COMPUTE = """
    void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(int)
    void aiter::local_device_load_rmsnorm<__hip_bfloat16, 2>(int)
    void vllm::moe::moe_align_block_size_kernel<int>(int)
    void flash::flash_fwd_splitkv_combine_kernel<int>(int)
    void at::native::_scatter_gather_elementwise_kernel<128, 4>(int)
    void MoeA2AGateKernel<8, 32>(float*)
    void MoeA2AMappingKernel(int*)
    triton_poi_fused_all_reduce_wait_tensor_0
    persistent_gemm_all_scatter
    collision_stream_kernel
    void splitKreduce_kernel<32, 16, int>(int)
"""


@pytest.mark.parametrize("framework", COMMUNICATION)
def test_communication(framework: str) -> None:
    names = COMMUNICATION[framework]
    missed = [
        name
        for name, of in zip(names, classes_of(list(names)), strict=True)
        if of != ActivityClass.COMMUNICATION
    ]
    assert missed == []
    assert {name: op_from_name(name) for name in names} == names


@pytest.mark.parametrize("name", [line.strip() for line in COMPUTE.strip().splitlines()])
def test_compute(name: str) -> None:
    assert ActivityClass(classes_of([name])[0]) is ActivityClass.COMPUTE
    assert op_from_name(name) is None
