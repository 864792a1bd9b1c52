"""What may be secret is hidden wherever it stands in a text, and what is no secret is not."""

from __future__ import annotations

import re

import pytest

from commscope import secrets_filter
from commscope.secrets_filter import HIDDEN, MOST_LOOKED_AT, without_secrets

_AWS = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
_URL_SAFE = "".join(f"a{number}B{'xyzZ'[number % 4]}" for number in range(10))
_MIB = 1 << 20


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"AWS_SECRET_ACCESS_KEY: {_AWS}", f"AWS_SECRET_ACCESS_KEY: {HIDDEN}"),
        (f"error {_AWS} again", f"error {HIDDEN} again"),
        (f"error {_AWS}.", f"error {HIDDEN}."),
        (f"given {_URL_SAFE}", f"given {HIDDEN}"),
        ("DB_PW hunter2", f"DB_PW {HIDDEN}"),
        ("db_pwd=hunter2 x", f"db_pwd={HIDDEN} x"),
        ("db_pass: hunter2", f"db_pass: {HIDDEN}"),
        (f"?X-Amz-Signature={'0f' * 32}&a=1", f"?X-Amz-Signature={HIDDEN}"),
        ("?sv=1&sig=abc%3D", f"?sv=1&sig={HIDDEN}"),
        ('FOO="a b c" x', f"FOO={HIDDEN} x"),
        ("FOO='a b c' x", f"FOO={HIDDEN} x"),
        (r'FOO="a\" b c" x', f"FOO={HIDDEN} x"),
        ('FOO="a b c', f"FOO={HIDDEN}"),
        ('{"token": "a b c", "x": 1}', f'{{"token": {HIDDEN}, "x": 1}}'),
        (r"{\"token\": \"a b c\"}", rf"{{\"token\": {HIDDEN}"),
        ("Authorization: Bearer abc x", f"Authorization: Bearer {HIDDEN} x"),
        ("redis://:hunter2@host/0", f"redis://{HIDDEN}@host/0"),
        ("https://hunter2@host/x", f"https://{HIDDEN}@host/x"),
        (f"MY_SETTING set to {'y ' * 600}", f"MY_SETTING set to {HIDDEN}"),
        (f"MY_SETTING={'y' * 999} x", f"MY_SETTING={HIDDEN} x"),
        (f"hf_{'y' * 999} x", f"{HIDDEN} x"),
    ],
)
def test_what_may_be_secret_is_hidden(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "/opt/conda/envs/Py310/lib/python3/SitePackages/Torch2X/csrc/Init:140 failed",
        "experiments/Llama3Finetuning/checkpoints/Run7",
        "src/Collectives2/device/common_kernel.h:12 -> 1",
        "ncclDevFunc_AllReduce_RING_SIMPLE_Sum_f32 failed",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        'Missing "HSA_FORCE_FINE_GRAIN_PCIE=1" from environment',
        "NCCL_IB_HCA=mlx5_0:1,mlx5_1:1 NCCL_DEBUG set by environment to INFO",
        "Got completion from peer 192.0.2.3<4567> with status=12 opcode=0 len=0 vendor err 129",
        "comm 0xb3b4e50 rank 0 commId 0xc391869632c3b35d - Abort COMPLETE",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert without_secrets(text) == text


def test_a_secret_that_is_cut_by_the_limit_is_not_shown() -> None:
    begin = f"FOO={'y' * (MOST_LOOKED_AT - 30)} "
    assert without_secrets(f"{begin}https://me:hunter2{'z' * 99}@host") == f"FOO={HIDDEN}"


_PATTERNS = {name: it for name, it in vars(secrets_filter).items() if isinstance(it, re.Pattern)}


@pytest.mark.parametrize("name", _PATTERNS)
@pytest.mark.parametrize(
    "text",
    [" ", "a", "_", "\\", '"', "/", "=", "token", "pwd", "pw_", "token-", "token=", 'token="',
     "token='\"", 'token=\\"', "token     =     ", "AAA=", "A_", "a set to ", "a set by ", "aB3",
     "aB3/", "aB3.", "aB3=", "://", "://a", "://a:", "sk-", "eyJ.", "&sig"],
)  # fmt: skip
def test_no_text_takes_long(name: str, text: str) -> None:
    """Of a MiB of it: were the time not in proportion, this would take hours."""
    repeated = text * (_MIB // len(text))
    assert len(_PATTERNS[name].sub("", repeated)) <= len(repeated)
