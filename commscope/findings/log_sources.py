"""Where the advice of rules is from, where several that look at logs have it from one place."""

from __future__ import annotations

USAGE_TIPS = "https://rocm.docs.amd.com/projects/rccl/en/latest/how-to/rccl-usage-tips.html"
NCCL_ENV = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
NCCL_TROUBLE = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html"
MI300A_NOTES = (
    "https://github.com/amd/HPCTrainingExamples/blob/main/MLExamples/Pytorch/common/"
    "PERFORMANCE_NOTES.md"
)
XGMI_BLOG = "https://rocm.blogs.amd.com/software-tools-optimization/mi300x-rccl-xgmi/README.html"
PRIMUS = "https://github.com/AMD-AGI/Primus/blob/main/runner/helpers/envs/base_env.sh"
RADEON_P2P = "https://github.com/ROCm/legacy-rocm-build/issues/6576"
NO_GDR = "https://github.com/ROCm/rccl/issues/502"
KERNEL_6_8 = "https://github.com/ROCm/rccl/pull/1343"
SLINGSHOT = "https://github.com/ROCm/rccl/issues/1026"
UCX = "https://github.com/ROCm/rccl/issues/1261"
