"""Reads pickles of plain data: numbers, text, lists, tuples, dicts, truth values and None.

Nothing is ever imported, called or built: an instruction that could is not known here, so a hostile
pickle ends in an error at the place where it asks for one. Memory is bounded by the size of the
file: numbers of the memo are keys, not sizes, lengths are held against what is left, and what is
built is never walked through here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from commscope.errors import CorruptTrace, FormatError

#: No dump of a rank comes near these.
MOST_BYTES = 128 << 20
_MOST_STEPS = 10_000_000
_MOST_NUMBER_BYTES = 16
_PROTOCOLS = range(2, 6)
_U16, _U32, _U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")
_I32, _DOUBLE = struct.Struct("<i"), struct.Struct(">d")

#: What other instructions would do, for the message.
_REFUSED = {
    b"c": "import a name", b"\x93": "import a name", b"R": "call a function",
    b"i": "build an object", b"o": "build an object", b"\x81": "build an object",
    b"\x92": "build an object", b"b": "set the state of an object",
    b"P": "ask for an object of another program", b"Q": "ask for an object of another program",
    b"\x82": "use a registered extension", b"\x83": "use a registered extension",
    b"\x84": "use a registered extension", b"\x97": "use a buffer of another program",
    b"\x98": "use a buffer of another program",
}  # fmt: skip


def load_plain(data: bytes, label: str) -> Any:
    """The value that a pickle is of.

    Raises FormatError where it asks for more than plain data or is too large, CorruptTrace where
    it is cut or damaged.
    """
    if len(data) > MOST_BYTES:
        raise FormatError(f"{label}: more than {MOST_BYTES >> 20} MiB, which no dump of a rank has")
    machine = _Machine(data, label)
    try:
        return machine.run()
    except (IndexError, KeyError, TypeError, ValueError, struct.error, OverflowError):
        raise machine.damaged() from None


class _Machine:
    """The stack, the memo, and the place in the data."""

    def __init__(self, data: bytes, label: str) -> None:
        self._data, self._label, self._at = data, label, 0
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def run(self) -> Any:
        """Takes one step after the other up to the end of the pickle."""
        if len(self._data) > 1 and (self._data[0] != _PROTO or self._data[1] not in _PROTOCOLS):
            raise CorruptTrace(f"{self._label}: no pickle of the protocols 2 to 5")
        data, steps = self._data, _STEPS
        for _ in range(_MOST_STEPS):
            code = data[self._at]
            self._at += 1
            if code == _STOP:
                (value,) = self._stack
                return value
            step = steps[code]
            if step is None:
                raise self._refused(code)
            step(self)
        raise FormatError(f"{self._label}: a pickle of more steps than any dump takes")

    def damaged(self) -> CorruptTrace:
        """The error of a pickle that ends too early or makes no sense."""
        if self._at >= len(self._data):
            return CorruptTrace(
                f"{self._label}: the pickle is cut after {len(self._data):,} bytes; the rank was "
                f"stopped while it wrote, or the copy is not complete"
            )
        return CorruptTrace(f"{self._label}: damaged pickle (byte {self._at - 1:,}); copy it again")

    def _refused(self, code: int) -> FormatError:
        does = _REFUSED.get(bytes([code]))
        if does is None:
            return self.damaged()
        return FormatError(
            f"{self._label}: the pickle wants to {does} (byte {self._at - 1:,}); a dump of the "
            f"Flight Recorder holds plain data only, so this file is refused"
        )

    def take(self, count: int) -> bytes:
        """The next bytes."""
        data = self._data[self._at : self._at + count]
        if len(data) < count:
            self._at = len(self._data)
            raise IndexError
        self._at += count
        return data

    def line(self) -> bytes:
        """The bytes up to the next line feed."""
        end = self._data.find(b"\n", self._at, self._at + 64)
        if end < 0:
            raise IndexError
        data = self._data[self._at : end]
        self._at = end + 1
        return data

    def sized(self, kind: struct.Struct) -> bytes:
        """Bytes that their length stands before."""
        return self.take(kind.unpack(self.take(kind.size))[0])

    def push(self, value: Any) -> None:
        """Puts a value on the stack."""
        self._stack.append(value)

    def pop(self) -> Any:
        """Takes a value from the stack, but none from below the last mark."""
        if self._marks and len(self._stack) <= self._marks[-1]:
            raise IndexError
        return self._stack.pop()

    def top(self, kind: type) -> Any:
        """The value on top of the stack, which must be of this kind."""
        value = self._stack[-1]
        if type(value) is not kind:
            raise TypeError
        return value

    def mark(self) -> None:
        """Remembers the place on the stack."""
        self._marks.append(len(self._stack))

    def since_mark(self) -> list[Any]:
        """Takes all values since the last mark."""
        place = self._marks.pop()
        values = self._stack[place:]
        del self._stack[place:]
        return values

    def keep(self, number: int) -> None:
        """Keeps the value on top in the memo."""
        self._memo[number] = self._stack[-1]

    def recall(self, number: int) -> None:
        """Puts a value of the memo on the stack."""
        self._stack.append(self._memo[number])

    def memoize(self) -> None:
        """Keeps the value on top under the next number."""
        self.keep(len(self._memo))


_PROTO, _STOP = 0x80, ord(".")
_Step = Callable[[_Machine], None]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _number(data: bytes) -> int:
    if len(data) > _MOST_NUMBER_BYTES:
        raise ValueError
    return int.from_bytes(data, "little", signed=True)


def _pairs(machine: _Machine) -> None:
    values = machine.since_mark()
    if len(values) % 2:
        raise ValueError
    machine.top(dict).update(zip(map(_key, values[::2]), values[1::2]))


def _pair(machine: _Machine) -> None:
    value = machine.pop()
    key = machine.pop()
    machine.top(dict)[_key(key)] = value


def _key(value: Any) -> Any:
    """A key of a dict: hashing a tuple would walk through all that it holds."""
    if value is not None and type(value) not in (str, int, float, bool):
        raise TypeError
    return value


def _append(machine: _Machine) -> None:
    value = machine.pop()
    machine.top(list).append(value)


def _tuple(count: int) -> _Step:
    def step(machine: _Machine) -> None:
        values = [machine.pop() for _ in range(count)]
        machine.push(tuple(reversed(values)))

    return step


def _pushing(value: Callable[[_Machine], Any]) -> _Step:
    return lambda machine: machine.push(value(machine))


def _decimal(machine: _Machine) -> int | bool:
    """A number in decimal digits; 00 and 01 are truth values."""
    digits = machine.line()
    return {b"00": False, b"01": True}.get(digits, int(digits))


def _extend(machine: _Machine) -> None:
    values = machine.since_mark()
    machine.top(list).extend(values)


def _skip(machine: _Machine, count: int) -> None:
    machine.take(count)


def _drop(machine: _Machine) -> None:
    machine.pop()


_KNOWN: dict[bytes, _Step] = {
    b"\x80": lambda m: _skip(m, 1),  # the protocol, which was looked at before
    b"\x95": lambda m: _skip(m, 8),  # how long a frame is, which changes nothing
    b"N": _pushing(lambda _: None),
    b"\x88": _pushing(lambda _: True),
    b"\x89": _pushing(lambda _: False),
    b"K": _pushing(lambda m: m.take(1)[0]),
    b"M": _pushing(lambda m: _U16.unpack(m.take(2))[0]),
    b"J": _pushing(lambda m: _I32.unpack(m.take(4))[0]),
    b"I": _pushing(_decimal),
    b"L": _pushing(lambda m: int(m.line().rstrip(b"L"))),
    b"\x8a": _pushing(lambda m: _number(m.take(m.take(1)[0]))),
    b"G": _pushing(lambda m: _DOUBLE.unpack(m.take(8))[0]),
    b"F": _pushing(lambda m: float(m.line())),
    b"X": _pushing(lambda m: _text(m.sized(_U32))),
    b"\x8c": _pushing(lambda m: _text(m.take(m.take(1)[0]))),
    b"\x8d": _pushing(lambda m: _text(m.sized(_U64))),
    b"U": _pushing(lambda m: _text(m.take(m.take(1)[0]))),
    b"T": _pushing(lambda m: _text(m.sized(_U32))),
    b"]": _pushing(lambda _: []),
    b"}": _pushing(lambda _: {}),
    b")": _pushing(lambda _: ()),
    b"(": _Machine.mark,
    b"t": _pushing(lambda m: tuple(m.since_mark())),
    b"l": _pushing(lambda m: m.since_mark()),
    b"\x85": _tuple(1),
    b"\x86": _tuple(2),
    b"\x87": _tuple(3),
    b"a": _append,
    b"e": _extend,
    b"s": _pair,
    b"u": _pairs,
    b"0": _drop,
    b"q": lambda m: m.keep(m.take(1)[0]),
    b"r": lambda m: m.keep(_U32.unpack(m.take(4))[0]),
    b"\x94": _Machine.memoize,
    b"h": lambda m: m.recall(m.take(1)[0]),
    b"j": lambda m: m.recall(_U32.unpack(m.take(4))[0]),
}


_STEPS: list[_Step | None] = [_KNOWN.get(bytes([code])) for code in range(256)]
