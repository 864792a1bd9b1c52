"""Makes a large trace as rocprofv3 writes it: one process of one GPU, with kernels and launches.

    python benchmarks/make_rocprofv3.py --format csv --megabytes 1000 --output folder
    python benchmarks/make_rocprofv3.py --format rocpd --megabytes 2000 --output 7_results.db

In the csv file kernels have names as long as those of a training on MI350X, and a file of kernels
alone, as ``--kernel-trace`` gives it. The database has a call for each kernel, with its arguments,
which are most of a database.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from format_writers.rocpd import RUN, write_rocpd
from logical_trace import three_steps

_BEGIN_NS = 10**15
_EVERY_NS = 12_000
_ROWS = 5_000
_HEADER = (
    '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name",'
    '"Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size",'
    '"VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y",'
    '"Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n'
)
_FUNCTOR = "std::integral_constant<unsigned long, {}ul>, " * 5
_NAMES = [
    *(
        "void at::native::vectorized_elementwise_kernel<4, at::native::functor<"
        f"{_FUNCTOR.format(*[number] * 5)}float>, std::array<char*, 3ul> >(int)"
        for number in range(60)
    ),
    *["ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"] * 2,
]


def write_csv(folder: Path, megabytes: int) -> None:
    """A kernel_trace of rocprofv3 in ROCm 7."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "7_kernel_trace.csv").open("w") as file:
        file.write(_HEADER)
        for rows in _csv_rows():
            file.write(rows)
            if file.tell() >= megabytes * 10**6:
                return


def _csv_rows() -> Iterator[str]:
    first = 0
    while True:
        yield "".join(map(_csv_row, range(first, first + _ROWS)))
        first += _ROWS


def _csv_row(number: int) -> str:
    kernel, begin = number % len(_NAMES), _BEGIN_NS + number * _EVERY_NS
    return (
        f'"KERNEL_DISPATCH","Agent 2",{1 + number % 2},{1 + number % 3},77,{number + 1},{kernel},'
        f'"{_NAMES[kernel]}",{number + 1},{begin},{begin + 9_000 + number % 3_000},0,0,32,4,96,'
        f"256,1,1,{77_824 + number % 7 * 256},1,1\n"
    )


#: Columns of rows that are copied: what grows with each copy by the ids or by the time so far.
_COPIED = {
    "event": {"id": "ids", "stack_id": "ids", "correlation_id": "0"},
    "arg": {"id": "ids", "event_id": "ids"},
    "region": {"id": "ids", "event_id": "ids", "start": "time", "end": "time"},
    "kernel_dispatch": {"id": "ids", "event_id": "ids", "start": "time", "end": "time"},
    "memory_copy": {"id": "ids", "event_id": "ids", "start": "time", "end": "time"},
}


def write_database(path: Path, megabytes: int) -> None:
    """A small database, doubled until it is large: all rows again, later and with other ids."""
    path.unlink(missing_ok=True)
    trace = three_steps()
    names = {str(number): "a value of this length" for number in range(6)}
    write_rocpd(path, trace, arguments={call.correlation: names for call in trace.calls})
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = OFF")
    begin, end = database.execute(
        f'SELECT min(start), max("end") FROM rocpd_region_{RUN}'
    ).fetchone()
    span = end - begin
    while path.stat().st_size < megabytes * 10**6:
        _double(database, span)
        span *= 2
    database.close()


def _double(database: sqlite3.Connection, span_ns: int) -> None:
    ids = max(
        database.execute(f"SELECT max(id) FROM rocpd_{table}_{RUN}").fetchone()[0] or 0
        for table in _COPIED
    )
    by = {"ids": ids, "time": span_ns, "0": 0}
    for table, grows in _COPIED.items():
        name = f"rocpd_{table}_{RUN}"
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
        values = [f'"{column}" + {by[grows.get(column, "0")]}' if column in grows else f'"{column}"'
                  for column in columns]  # fmt: skip
        database.execute(f"INSERT INTO {name} SELECT {', '.join(values)} FROM {name}")
    database.commit()


def main() -> None:
    """Writes what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--format", choices=("csv", "rocpd"), required=True)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--output", type=Path, required=True)
    asked = parser.parse_args()
    {"csv": write_csv, "rocpd": write_database}[asked.format](asked.output, asked.megabytes)


if __name__ == "__main__":
    main()
