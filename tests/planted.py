"""A run in which everything stands that nobody may read in a shared one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import small_run
from builders import TraceBuilder
from job_logs import JobLog

from commscope import api
from commscope.engine.run import Run
from commscope.parsers.base import Health

HOST = "falcon-gpu-17"
#: None of these may be in a byte of what is shared.
SECRETS = (
    *("falcon", "jsmith", "acme", "topsecret", "hunter2", "10.20.30.40", "4711815", "zebra_step"),
    *("fe80::aa", "00:1a:2b:3c:4d:5e", "0x0011223344556677", "train_it.py", "bluebird", "Wombat"),
    *("https://wiki.acme.example/x", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "qzport"),
)


def _trace(rank: int) -> bytes:
    builder = TraceBuilder(rank=rank)
    kernel = "triton_poi_fused_/home/jsmith/acme/topsecret.py:12_falcon-gpu-17_10.20.30.40_k"
    for step in range(small_run.STEPS):
        start = 1000.0 + 100 * step
        small_run.add_step(builder, step, start, kernel)
        builder.span("user_annotation", "train_it.py(33): bluebird", start + 20, 5)
        builder.span("user_annotation", f"zebra_step {step} of job 4711815", start + 30, 5)
        args = {"Process Group Description": "falcon_tp"}
        builder.launch(start + 8).collective("all_reduce", start + 75, 5, stream=1, **args)
    document = builder.document()
    document["host"] = f"{HOST}.acme.example"
    document["deviceProperties"] = [{"id": 0, "name": "AMD Instinct MI300X Wombat"}]
    return json.dumps(document).encode()


_WARNINGS = (
    "misc/socket.cc:123 NCCL WARN socketPollConnect: Connect to 10.20.30.40<4711> failed for acme",
    "NCCL WARN Call to connect to fe80::aa failed, /home/jsmith/topsecret/x.so with hunter2",
    "NCCL WARN bluebird mac 00:1a:2b:3c:4d:5e guid 0x0011223344556677 jsmith@acme.example",
    "NCCL WARN see https://wiki.acme.example/x or 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "NCCL WARN python /data/acme/train_it.py --lr 1 --project bluebird",
    'NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity',
    "NCCL INFO NCCL_SOCKET_IFNAME set by environment to qzport0",
    "NCCL INFO NCCL_TOPO_FILE set by environment to /home/jsmith/topo.xml",
)


def write(folder: Path) -> Path:
    """The files of the run: traces of two ranks, their log, and the topology of the host."""
    folder.mkdir(parents=True)
    for rank in range(2):
        (folder / f"jsmith-{HOST}-rank{rank}.json").write_bytes(_trace(rank))
    head = f"{HOST}:100:100 [0] "
    lines = [str(JobLog([(0, 1)], host=lambda _: HOST)), *(head + line for line in _WARNINGS)]
    (folder / f"nccl.{HOST}.log").write_text("\n".join(lines) + "\n")
    collected = {
        "schema": "commscope.collected/1",
        "host": HOST,
        "system": {"kernel": "5.15.0-acme-generic"},
        "environment": {"NCCL_SOCKET_IFNAME": "qzport0", "GPU_DEVICE_ORDINAL": "topsecret"},
        "tools": [],
    }
    (folder / "collected.json").write_text(json.dumps(collected, indent=1))
    (folder / "acme-notes.txt").write_text("nothing\n")
    return folder


def read(folder: Path) -> Run:
    """The run, with notes of the kind that parsers write."""
    run = api.read(write(folder))
    health = Health(events_read=9, cut="the file of jsmith ends", notes=("2 rows of acme",))
    readings = tuple(replace(reading, health=health) for reading in run.readings)
    return replace(run, readings=readings)
