"""Which wrapper of a job this is, by what launchers set and by what torchrun is given."""

from __future__ import annotations

import shlex

import pytest

from commscope.collect.commands import name_of, program, without_secrets
from commscope.collect.nodes import Place, find_place, misnumbered, spreads

STEP = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "1", "SLURM_PROCID": "3", "SLURM_LOCALID": "1",
        "SLURM_STEP_NUM_TASKS": "4", "SLURM_JOB_NUM_NODES": "2", "SLURM_NODEID": "1"}  # fmt: skip
BATCH = {"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_JOB_NUM_NODES": "2", "SLURM_NODEID": "0"}
OPEN_MPI = {"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "8",
            "OMPI_COMM_WORLD_LOCAL_RANK": "2", "PMIX_NAMESPACE": "prte-1"}  # fmt: skip

BY_HAND = {"COMMSCOPE_NODE": "1", "COMMSCOPE_NODES": "2"}


@pytest.mark.parametrize(
    ("environment", "command", "place"),
    [
        ({}, "python train.py", Place(0, 1)),
        (STEP, "python train.py", Place(3, 4, 1, (3,), 4, "slurm7.1")),
        ({**STEP, "SLURM_RESTART_COUNT": "2"}, "true",
         Place(3, 4, 1, (3,), 4, "slurm7.1.restart2")),
        (BATCH, "python train.py", Place(0, 1)),
        ({**STEP, **OPEN_MPI}, "python train.py", Place(5, 8, 2, (5,), 8, "prte-1")),
        ({"PMI_RANK": "1", "PMI_SIZE": "2"}, "./job", Place(1, 2, 0, (1,), 2)),
        ({"PMI_RANK": "2", "PMI_SIZE": "2"}, "./job", Place(0, 1)),
        (BY_HAND, "./launch.sh 1", Place(1, 2)),
        ({**STEP, **BY_HAND}, "torchrun --nnodes 2 --node-rank 1 t.py",
         Place(1, 2, 0, (1,), 2)),
        ({**BY_HAND, "COMMSCOPE_NODE": "2"}, "./launch.sh", Place(0, 1)),
        ({"PMI_RANK": "one", "PMI_SIZE": "2"}, "./job", Place(0, 1)),
        ({"RANK": "1", "WORLD_SIZE": "2"}, "python train.py", Place(1, 2, 0, (1,), 2)),
        ({}, "torchrun train.py", Place(0, 1, 0, (0,), 1)),
        ({}, "torchrun --nproc-per-node 4 train.py --nnodes 9", Place(0, 1, 0, (0, 1, 2, 3), 4)),
        ({}, "torchrun --nproc_per_node=gpu train.py", Place(0, 1)),
        (
            {},
            "python -m torch.distributed.run --nnodes=2 --node_rank=1 --nproc_per_node=2 -m train",
            Place(1, 2, 0, (2, 3), 4),
        ),
        ({}, "torchrun --nnodes 2 --rdzv-id 9 --nproc-per-node 2 t.py",
         Place(None, 2, 0, None, 4, "rdzv9")),
        ({}, "torchrun --nnodes 1:4 --nproc-per-node 2 t.py", Place(0, 1)),
        ({"PET_NNODES": "2", "PET_NODE_RANK": "1"}, "torchrun t.py", Place(1, 2, 0, (1,), 2)),
        ({"RANK": "1", "WORLD_SIZE": "2"}, "torchrun --nnodes 2 --node-rank 1 t.py",
         Place(1, 2, 0, (1,), 2)),
        (STEP, "torchrun --nnodes 4 --node-rank 3 --nproc-per-node 2 t.py",
         Place(3, 4, 1, (6, 7), 8, "slurm7.1")),
        ({}, "accelerate launch --num_machines 2 --machine_rank 1 --num_processes 4 t.py",
         Place(1, 2, 0, (2, 3), 4)),
    ],
)  # fmt: skip
def test_place(environment: dict[str, str], command: str, place: Place) -> None:
    assert find_place(environment, shlex.split(command)) == place


def test_numbers_that_make_no_sense_are_told() -> None:
    assert misnumbered({}) is None
    assert misnumbered(BY_HAND) is None
    told = misnumbered({"COMMSCOPE_NODE": "2", "COMMSCOPE_NODES": "2"})
    assert told is not None
    assert told.startswith("COMMSCOPE_NODE=2 COMMSCOPE_NODES=2: ")
    assert misnumbered({"COMMSCOPE_NODE": "0"}) is not None


@pytest.mark.parametrize(
    ("environment", "command", "answer"),
    [
        ({}, "torchrun train.py", False),
        ({}, "mpirun -n 4 ./job", True),
        ({}, "env A=1 numactl -N 0 /usr/bin/srun ./job", True),
        (BATCH, "bash launch.sh", True),
        ({**BATCH, "SLURM_JOB_NUM_NODES": "1"}, "srun ./job", False),
        (STEP, "torchrun train.py", False),
        ({**STEP, "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}, "bash launch.sh", True),
    ],
)
def test_jobs_that_spread_over_nodes(
    environment: dict[str, str], command: str, answer: bool
) -> None:
    assert spreads(environment, shlex.split(command)) is answer


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("torchrun --nnodes 2 examples/my_train.py --lr 1", "my_train"),
        ("python -m my.train", "my.train"),
        ("env A=1 ./bin/job -m", "job"),
        ("'/odd dir/a b*c'", "a-b-c"),
        ("..", "job"),
    ],
)
def test_name_of_a_run(command: str, name: str) -> None:
    words = shlex.split(command)
    assert name_of(words, program(words)) == name


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("t.py --api-key abc --max-tokens 5", "t.py --api-key *** --max-tokens 5"),
        ("env HF_TOKEN=abc t.py", "env HF_TOKEN=*** t.py"),
        ("t.py --password=abc --tokenizer x", "t.py --password=*** --tokenizer x"),
        ("t.py --token --token x", "t.py --token *** x"),
    ],
)
def test_secrets_of_a_command(command: str, shown: str) -> None:
    assert without_secrets(command.split()) == shown.split()
