"""What is written where: a folder of tables, or one file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from commscope.errors import UsageError
from commscope.schema import TABLES

CHROME = "chrome"
#: Format of tables -> how the names of its files end.
_TABLE_SUFFIXES = {"parquet": ".parquet", "arrow": ".arrow", "csv": ".csv"}
FORMATS = (*_TABLE_SUFFIXES, CHROME)
#: Names of files, so no folder of tables has such a name.
_CHROME_SUFFIXES = (".json", ".json.gz")
_FILE_SUFFIXES = (*_CHROME_SUFFIXES, *_TABLE_SUFFIXES.values(), ".gz", ".zip", ".feather")


@dataclass(frozen=True, slots=True)
class Target:
    """An output and its format, one of FORMATS."""

    output: Path
    format: str

    @property
    def is_folder(self) -> bool:
        """Whether the output is a folder of tables, and no file."""
        return self.format != CHROME

    def files(self) -> tuple[Path, ...]:
        """All files that are written."""
        if not self.is_folder:
            return (self.output,)
        return tuple(self.output / self.file_name(table) for table in TABLES)

    def file_name(self, table: str) -> str:
        """The name of the file of a table."""
        return f"{table.lower()}{_TABLE_SUFFIXES[self.format]}"


def chosen_target(output: Path, wanted: str | None) -> Target:
    """The output in the format wanted, else in the one that its name says, else Parquet.

    Raises UsageError where name and format contradict each other.
    """
    name = output.name.lower()
    target = Target(output, wanted or (CHROME if name.endswith(_CHROME_SUFFIXES) else "parquet"))
    if target.is_folder and name.endswith(_FILE_SUFFIXES):
        raise UsageError(
            f"--output {output}: {target.format} is written as a folder of tables; name a folder"
        )
    if not target.is_folder and not name.endswith(_CHROME_SUFFIXES):
        raise UsageError(f"--output {output}: name it .json or .json.gz")
    return target
