"""Each rule of what is renamed, and what stays."""

from __future__ import annotations

import pytest

from commscope.saved.file_names import files_meant, new_file_names
from commscope.saved.names import Names
from commscope.saved.redaction_rules import RULES
from commscope.saved.scrubber import Scrubber

#: What a rule is about, a text, and what is made of it as free text.
TEXTS = (
    ("url", "see tcp://n7.acme.example:29500 now", "see url1 now"),
    ("user", "mail to j.smith@acme.example", "mail to user1"),
    ("user", "root@node", "user1"),
    ("path", "open /home/jsmith/run.xml failed", "open path1 failed"),
    ("path", "open ~/run.xml and C:\\Users\\me", "open path2 and path1"),
    ("code", "train.py(33): forward", "code1"),
    ("code", "<ipython-input-3-abc> step", "code1 step"),
    ("address", "of 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "of address1"),
    ("address", "mac 00:1a:2b:3c:4d:5e", "mac address1"),
    ("address", "guid 0x0011223344556677", "guid address1"),
    ("address", "to 10.20.30.40<4711> failed", "to address1 failed"),
    ("address", "from 10.20.30.40:4711", "from address1"),
    ("address", "from fe80::1a2b:3 and 2001:db8:0:0:1:2:3:4", "from address1 and address2"),
    ("command", "ran torchrun --nproc 8 acme.bin", "ran torchrun command1"),
    ("command", "bash b", "bash command1"),
    ("number", "Slurm job 1234 failed", "namea job 10001 failed"),
)
STAY = (
    "NET/IB : Using [0]mlx5_0:1/RoCE [RO]",
    "P2P/CUMEM/read",
    "ProfilerStep#123456",
    "cudaLaunchKernel",
    "Optimizer.step#AdamW.step",
    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
    "FullyShardedDataParallel._pre_forward",
    'Missing "iommu=pt" from kernel command line which can lead to system instablity or hang',
    "AMD Instinct MI300X",
    "mesh_tp",
    "682:689",
)
KERNELS_STAY = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x1_SN_GRVWA8",
    "void ck::kernel_gemm_xdl<ck::Sequence<0, 1, 2>, (ck::Opt)1>(acme::Args)",
    "triton_poi_fused_acme_0d1d2de",
)


def named(method: str, *texts: str) -> list[str]:
    """What one shared run would make of texts."""
    names = Names()
    rename = getattr(Scrubber(names), method)
    for text in texts:
        rename(text)
    names.settle()
    return [rename(text) for text in texts]


@pytest.mark.parametrize(("kind", "text", "wanted"), TEXTS)
def test_texts(kind: str, text: str, wanted: str) -> None:
    assert named("text", text) == [wanted]
    assert [rule for rule in RULES if rule.kind == kind and rule.pattern.search(text)]


def test_every_rule_has_a_text() -> None:
    for rule in RULES:
        assert any(rule.pattern.search(text) for kind, text, _ in TEXTS if kind == rule.kind)


@pytest.mark.parametrize("text", STAY)
def test_known_text_stays(text: str) -> None:
    assert named("call", text) == [text]


@pytest.mark.parametrize("kernel", KERNELS_STAY)
def test_kernels_stay(kernel: str) -> None:
    assert named("kernel", kernel) == [kernel]


def test_paths_in_kernels() -> None:
    assert named("kernel", "k</home/jsmith/a.py:3, 10.0.0.1>_x") == ["k<path1:3, address1>_x"]


def test_the_same_text_has_the_same_name() -> None:
    found = named("text", "zebra on /a/b", "apple and zebra", "/a/b zebra_apple")
    assert found == ["nameb on path1", "namea and nameb", "path1 nameb_namea"]


def test_hosts_and_users_are_found_in_other_texts() -> None:
    names = Names()
    scrub = Scrubber(names)

    def all_texts() -> list[str]:
        found = [scrub.host("gandalf-3.acme.example"), scrub.text("/home/jsmith/x")]
        return [*found, scrub.kernel("k_jsmith_v2"), scrub.kernel("k_gandalf-3"), scrub.host("of")]

    all_texts()
    all_texts()
    names.settle()
    assert all_texts() == ["host1.domain1", "path1", "k_user1_v2", "k_host1", "host2"]


def test_hosts_are_looked_for_as_they_were_before_the_round() -> None:
    names = Names()
    scrub = Scrubber(names)
    scrub.host("gandalf")
    assert not names.known
    names.next_round()
    known = names.known["host"]
    scrub.host("saruman")
    scrub.text("to gandalf and saruman")
    assert names.known["host"] is known
    assert [known.findall(text) for text in ("a gandalf_b", "saruman")] == [["gandalf"], []]
    names.next_round()
    assert names.known["host"].findall("gandalf-saruman") == ["gandalf", "saruman"]


def test_names_sort_as_the_texts_did() -> None:
    hosts = [f"n{number}" for number in range(12)]
    assert sorted(named("host", *hosts)) == named("host", *hosts)
    words = ["zulu", "anton", "mike"]
    assert named("text", *words) == ["namec", "namea", "nameb"]


def test_secrets_are_hidden_first() -> None:
    assert "hunter2" not in named("text", "password=hunter2 token: ghp_0123456789abcdef")[0]


def test_values_of_variables() -> None:
    names = Names()
    names.settle()
    scrub = Scrubber(names)
    assert scrub.value("NCCL_IB_HCA", "mlx5_0:1,mlx5_1") == "mlx5_0:1,mlx5_1"
    assert scrub.value("GPU_MAX_HW_QUEUES", "4") == "4"
    with pytest.raises(KeyError):
        scrub.value("FI_PROVIDER", "efa")  # nothing was gathered: it would be renamed


def test_files_tell_their_ranks_only() -> None:
    traces = ["acme/rank3.json", "w-77/worker0.json", "w-77/worker1.json", "other.json"]
    assert new_file_names(traces, ["nccl.acme.log"]) == {
        "acme/rank3.json": "file-a-rank3",
        "w-77/worker0.json": "part-b-0",
        "w-77/worker1.json": "part-b-1",
        "other.json": "file-d",
        "nccl.acme.log": "file-e",
    }


def test_files_that_are_meant() -> None:
    files = ["a/rank3.json", "b/rank3.json", "b/rank4.json"]
    given = {1: "x/y/rank3.json", 2: "b/rank3.json", 3: "rank4.json", 4: "rank5.json"}
    assert files_meant(given, files) == {1: "a/rank3.json", 2: "b/rank3.json", 3: "b/rank4.json"}
