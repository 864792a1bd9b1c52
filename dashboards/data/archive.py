"""Tables packed in memory: what is rarely asked for takes a fraction of its size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import Int64

_BLOCK_ROWS = 1 << 15


@dataclass(frozen=True, slots=True)
class Archive:
    """A table in blocks, each of which can be unpacked alone; ``bounds`` are their first rows."""

    packed: pa.Buffer
    bounds: Int64

    @classmethod
    def of(cls, table: pa.Table) -> Archive:
        """The table, packed."""
        # One dictionary a column: the file format has no other.
        whole = table.unify_dictionaries()
        batches = whole.to_batches(max_chunksize=_BLOCK_ROWS)
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_file(sink, whole.schema, options=options) as writer:
            for batch in batches:
                writer.write_batch(batch)
        return cls(sink.getvalue(), np.cumsum([0, *(batch.num_rows for batch in batches)]))

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self.bounds[-1])

    def slice(self, first: int, last: int) -> pa.Table:
        """The rows from the first up to the last, which is left out."""
        begin = max(int(np.searchsorted(self.bounds[:-1], first, side="right")) - 1, 0)
        end = int(np.searchsorted(self.bounds[:-1], last, side="left"))
        with pa.ipc.open_file(self.packed) as reader:
            blocks = [reader.get_batch(number) for number in range(begin, end)]
            table = pa.Table.from_batches(blocks, reader.schema)
        return table.slice(first - int(self.bounds[begin]), max(last - first, 0))

    def row(self, number: int) -> dict[str, Any]:
        """One row."""
        found: dict[str, Any] = self.slice(number, number + 1).to_pylist()[0]
        return found

    def take(self, rows: Int64) -> pa.Table:
        """Some rows, which ascend; only the blocks that hold them are unpacked."""
        return pa.concat_tables(self._parts(rows))

    def _parts(self, rows: Int64) -> Iterator[pa.Table]:
        with pa.ipc.open_file(self.packed) as reader:
            yield reader.schema.empty_table()
            block = np.searchsorted(self.bounds, rows, side="right") - 1
            for number in np.unique(block).tolist():
                batch = pa.Table.from_batches([reader.get_batch(number)])
                yield batch.take(pa.array(rows[block == number] - self.bounds[number]))

    def whole(self) -> pa.Table:
        """All of it."""
        with pa.ipc.open_file(self.packed) as reader:
            return reader.read_all()
