"""Which table a record belongs to, by the first word of its message."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from commscope.parsers.rccl_log.calls import Calls
from commscope.parsers.rccl_log.channels import Channels
from commscope.parsers.rccl_log.comms import Comms
from commscope.parsers.rccl_log.environment import Environment
from commscope.parsers.rccl_log.graphs import Graphs
from commscope.parsers.rccl_log.hangs import Hangs
from commscope.parsers.rccl_log.kernels import Kernels
from commscope.parsers.rccl_log.proxies import Proxies
from commscope.parsers.rccl_log.rows import RowTable
from commscope.parsers.rccl_log.tuning import Tuning
from commscope.parsers.rccl_log.versions import Versions
from commscope.parsers.rccl_log.warnings import Warnings
from commscope.parsers.rccl_log.writers import Read, Writer

#: First words that are kept at most; what a torn log makes up is forgotten.
_MOST_WORDS = 4096


class Messages:
    """All tables, and what reads into them."""

    def __init__(self) -> None:
        self.comms = Comms()
        self.channels = Channels(self.comms)
        self.graphs = Graphs(self.comms)
        self.tuning = Tuning()
        self.calls = Calls(self.comms, self.tuning.read)
        self.environment = Environment()
        self.warnings = Warnings()
        self.versions = Versions()
        self.hangs = Hangs()
        self.kernels = Kernels()
        self.proxies = Proxies()
        self.tables: dict[str, RowTable] = {
            "COMMS": self.comms,
            "CHANNELS": self.channels,
            "GRAPHS": self.graphs,
            "CALLS": self.calls,
            "TUNING": self.tuning,
            "ENVIRONMENT": self.environment,
            "WARNINGS": self.warnings,
            "VERSIONS": self.versions,
            "HANGS": self.hangs,
            "KERNELS": self.kernels,
            "PROXIES": self.proxies,
        }
        self._begins: tuple[tuple[bytes, Read], ...] = (
            (b"ncclComm", self.comms.read_state),
            (b"comm:", self.comms.read_channels),
            (b"GPU/", self.graphs.read_paths),
            (b"msccl", self.warnings.read),  # its calls are those of RCCL, told again
            (b"NET/", _one_of(self.graphs.read_nics, self.warnings.read)),
        )
        self.readers = Readers(self._words(), self._by_shape)

    def read(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads a record of the level INFO; false where it belongs to no table."""
        return self.readers[message.partition(b" ")[0]](writer, place, message)

    def _words(self) -> dict[bytes, Read]:
        comms, graphs, versions = self.comms, self.graphs, self.versions
        named = (b"RCCL", b"NCCL", b"ROCr", b"Kernel", b"Hipruntime", b"cudaDriverVersion")
        return {
            **dict.fromkeys((*named, b"rocm_smi_lib:"), versions.read),
            b"Channel": _one_of(self.channels.read, graphs.read_ring_list),
            b"CollNet": self.channels.read_in_network,
            b"comm": comms.read_state,
            b"[Rank": comms.read_state,
            b"Init": comms.read_timings,
            b"Using": comms.read_network,
            b"Ring": graphs.read_ring,
            b"Trees": graphs.read_trees,
            b"Connected": graphs.read_connected,
            b"Pattern": graphs.read_pattern,
            b"##": self.kernels.read,
            **dict.fromkeys((b"", b"+"), graphs.read_link),
        }

    def _by_shape(self, word: bytes) -> Read:
        """What reads a record by the look of a first word that is not fixed."""
        for begin, reader in self._begins:
            if word.startswith(begin):
                return reader
        if word.isdigit():
            return _one_of(self.comms.read_channels, self.tuning.read)
        if word.endswith(b":") and word[:-1].isalnum():
            return self.calls.read
        if word.isalnum():  # ``AllReduce [Symmetric]: 4096 Bytes -> ..``
            return _one_of(self.warnings.read, self.tuning.read)
        is_variable = b"_" in word and word.isupper()
        return self.environment.read if is_variable else self.warnings.read


def _one_of(first: Read, *others: Read) -> Read:
    """Reads with the first that can."""
    second = _one_of(*others) if len(others) > 1 else others[0]

    def read(writer: Writer, place: int, message: bytes) -> bool:
        return first(writer, place, message) or second(writer, place, message)

    return read


class Readers(dict[bytes, Read]):
    """What reads a record, by the first word of its message."""

    def __init__(self, fixed: Mapping[bytes, Read], by_shape: Callable[[bytes], Read]) -> None:
        super().__init__(fixed)
        self._fixed, self._by_shape = fixed, by_shape

    def __missing__(self, word: bytes) -> Read:
        if len(self) > _MOST_WORDS:
            self.clear()
            self.update(self._fixed)
        found = self[word] = self._by_shape(word)
        return found
