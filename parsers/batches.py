"""Columns that grow as a file is read."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from commscope.columns import Bool, Int64


@dataclass(slots=True)
class Columns:
    """Columns that grow batch by batch; all of one batch have the same length."""

    batches: dict[str, list[Int64]] = field(default_factory=dict)

    def append(self, **columns: Int64) -> None:
        """Adds a batch of rows."""
        for name, values in columns.items():
            self.batches.setdefault(name, []).append(values)

    def __len__(self) -> int:
        return sum(map(len, next(iter(self.batches.values()), [])))

    def column(self, name: str) -> Int64:
        """All rows of a column."""
        batches = self.batches.get(name) or [np.empty(0, np.int64)]
        if len(batches) > 1:
            batches[:] = [np.concatenate(batches)]
        return batches[0]

    def where(self, rows: Bool) -> Columns:
        """The columns with only some of the rows."""
        return Columns({name: [self.column(name)[rows]] for name in self.batches})
