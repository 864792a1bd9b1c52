"""What a communicator is for, by its name, its description, its use, or as the user says."""

from __future__ import annotations

import re

import pytest

from commscope.analysis.communicators import Communicator
from commscope.analysis.roles import role_of


def _role(
    name: str | None = None, description: str | None = None, ops: tuple[str, ...] = (), **given: str
) -> str | None:
    communicator = Communicator(name, description, (0, 1), 2, by_stream=False)
    return role_of(communicator, ops, {role: re.compile(regex) for role, regex in given.items()})


MEGATRON = {
    "dp": """DATA_PARALLEL_GROUP DATA_PARALLEL_GROUP_WITH_CP DATA_PARALLEL_GROUP_WITH_CP_AG
        INTRA_PARTIAL_DATA_PARALLEL_GROUP_WITH_CP EXPERT_DATA_PARALLEL_GROUP
        HIERARCHICAL_EXPERT_DATA_PARALLEL_GROUP_L0""",
    "tp": """TENSOR_MODEL_PARALLEL_GROUP EXPERT_TENSOR_PARALLEL_GROUP
        TENSOR_AND_CONTEXT_PARALLEL_GROUP""",
    "pp": "PIPELINE_MODEL_PARALLEL_GROUP",
    "ep": "EXPERT_MODEL_PARALLEL_GROUP EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP",
    "cp": "CONTEXT_PARALLEL_GROUP HIERARCHICAL_CONTEXT_PARALLEL_GROUP_L1",
    None: """MODEL_PARALLEL_GROUP EMBEDDING_GROUP POSITION_EMBEDDING_GROUP
        TENSOR_AND_DATA_PARALLEL_GROUP TENSOR_AND_DATA_PARALLEL_GROUP_WITH_CP
        EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP INTRA_DISTRIBUTED_OPTIMIZER_INSTANCE_GROUP""",
}
DEVICE_MESH = {
    "dp": """mesh_dp mesh_ddp mesh_fsdp mesh_efsdp mesh_dp_shard mesh_dp_replicate mesh_dp_cp
        mesh_dp_shard_cp mesh_dp_shard_in_ep mesh_dp_shard_mod_ep mesh_replicate mesh_shard""",
    "tp": "mesh_tp mesh_etp mesh_sp",
    "pp": "mesh_pp",
    "ep": "mesh_ep",
    "cp": "mesh_cp",
    None: "mesh_default mesh_world",
}
SERVING = {  # vLLM, SGLang
    "dp": "dp:0 dp:device moe_dp",
    "tp": "tp:0 tp:device attention_tp moe_tp",
    "pp": "pp:device",
    "ep": "ep:device eplb:device moe_ep",
    "cp": "dcp:device pcp:device attn_cp",
    None: "world:device anonymous:0",
}
OTHERS = {
    "dp": "ddp",
    "tp": "tp0 TensorParallel",
    "ep": "expert_parallel moe_group",
    None: "default_pg cpp epoch database tensorboard undefined",
}
FRAMEWORKS = {"Megatron": MEGATRON, "mesh": DEVICE_MESH, "serving": SERVING, "others": OTHERS}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_names_and_descriptions(framework: str) -> None:
    known = {name: role for role, names in FRAMEWORKS[framework].items() for name in names.split()}
    assert {name: _role(name=name) for name in known} == known
    assert {name: _role(name="3", description=name) for name in known} == known


@pytest.mark.parametrize(
    ("ops", "role"),
    [
        (("send", "recv"), "pp"), (("send_recv",), "pp"), (("all_to_all",), "ep"),
        (("all_reduce",), None), (("send", "all_reduce"), None), ((), None),
    ],
)  # fmt: skip
def test_use_tells_where_names_do_not(ops: tuple[str, ...], role: str | None) -> None:
    assert _role(name="7", ops=ops) == role
    assert _role(name="mesh_dp", ops=ops) == "dp"


def test_use_does_not_overrule_a_name_of_several_roles() -> None:
    assert _role(name="TENSOR_AND_DATA_PARALLEL_GROUP", ops=("all_to_all",)) is None


def test_the_user_has_the_first_word() -> None:
    assert _role(name="mesh_tp", embedding="^mesh_") == "embedding"
    assert _role(name="mesh_tp", embedding="^other") == "tp"
