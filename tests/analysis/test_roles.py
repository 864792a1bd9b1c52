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


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("mesh_tp", "tp"), ("TENSOR_MODEL_PARALLEL_GROUP", "tp"), ("tp0", "tp"), ("mesh_sp", "tp"),
        ("mesh_pp", "pp"), ("PIPELINE_MODEL_PARALLEL_GROUP", "pp"), ("expert_parallel", "ep"),
        ("EXPERT_MODEL_PARALLEL_GROUP", "ep"), ("moe_group", "ep"), ("mesh_cp", "cp"),
        ("DATA_PARALLEL_GROUP", "dp"), ("mesh_fsdp", "dp"), ("ddp", "dp"), ("mesh_dp_shard", "dp"),
        ("default_pg", None), ("cpp", None), ("epoch", None), ("database", None),
    ],
)  # fmt: skip
def test_names_and_descriptions(text: str, role: str | None) -> None:
    assert _role(name=text) == role
    assert _role(name="3", description=text) == role


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


def test_the_user_has_the_first_word() -> None:
    assert _role(name="mesh_tp", embedding="^mesh_") == "embedding"
    assert _role(name="mesh_tp", embedding="^other") == "tp"
