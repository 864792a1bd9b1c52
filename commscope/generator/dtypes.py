"""Types of the elements that collectives send, and what others call them."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Dtype(NamedTuple):
    """Its name here, bytes of an element, PyTorch's name, and its number in RCCL and NCCL."""

    name: str
    size_bytes: int
    torch: str
    ccl: int


Name = Literal["bfloat16", "float16", "float32", "int8"]
DTYPES = {
    it.name: it
    for it in (
        Dtype("bfloat16", 2, "BFloat16", 9),
        Dtype("float16", 2, "Half", 6),
        Dtype("float32", 4, "Float", 7),
        Dtype("int8", 1, "Char", 0),
    )
}
DEFAULT: Name = "bfloat16"
_BYTES = Dtype("uint8", 1, "Byte", 1)


def sent_as(dtype: str, *sizes_bytes: int) -> Dtype:
    """The type by which sizes are sent: bytes where they are not whole elements."""
    wanted = DTYPES[dtype]
    return wanted if all(size % wanted.size_bytes == 0 for size in sizes_bytes) else _BYTES
