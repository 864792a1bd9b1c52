"""Types of the elements that collectives send, and what others call them."""

from __future__ import annotations

from typing import NamedTuple


class Dtype(NamedTuple):
    """Bytes of an element, PyTorch's name of the type, and its number in RCCL and NCCL."""

    size_bytes: int
    torch: str
    ccl: int


DTYPES = {
    "bfloat16": Dtype(2, "BFloat16", 9),
    "float16": Dtype(2, "Half", 6),
    "float32": Dtype(4, "Float", 7),
    "int8": Dtype(1, "Char", 0),
}
DEFAULT = "bfloat16"
_BYTES = Dtype(1, "Byte", 1)


def sent_as(dtype: str, *sizes_bytes: int) -> Dtype:
    """The type by which sizes are sent: bytes where they are not whole elements."""
    wanted = DTYPES[dtype]
    return wanted if all(size % wanted.size_bytes == 0 for size in sizes_bytes) else _BYTES
