"""Every error commscope raises on purpose, and the exit code each one ends the program with.

    CommscopeError            [1]
    ├── UsageError            [2]  the command or the call asks for something impossible: also a
    │   │                          file that is missing, that the system does not let us read, or
    │   │                          an output that cannot be written
    │   └── ScheduleError          a schedule of commscope.generator contradicts itself
    ├── FormatError           [3]  the bytes of a file cannot be read as a trace
    │   ├── UnknownFormat          no parser recognises the file
    │   ├── AmbiguousFormat        several parsers recognise it equally well
    │   └── CorruptTrace           recognised, but nothing usable could be read
    ├── SchemaError           [4]  a parser broke the table contract: a bug, or a faulty plug-in
    └── DataError             [5]  readable, but the trace cannot answer the question
        ├── NoDeviceEvents         no GPU activity in any file
        └── RankConflict           two files claim the same rank at the same time

A message says what is wrong, where (file, byte or row), and what to do about it.
"""

from __future__ import annotations


class CommscopeError(Exception):
    """Base of all errors that are meant for the user; never shown with a traceback."""

    exit_code = 1


class UsageError(CommscopeError):
    """The command line or the call asks for something that cannot be done."""

    exit_code = 2


class FormatError(CommscopeError):
    """A file cannot be read as a trace."""

    exit_code = 3


class UnknownFormat(FormatError):
    """No parser recognises the file."""


class AmbiguousFormat(FormatError):
    """Several parsers recognise the file with equal confidence."""


class CorruptTrace(FormatError):
    """The file is recognised, but nothing usable could be read from it."""


class SchemaError(CommscopeError):
    """A table breaks the declared schema: a bug in a parser, not in the input."""

    exit_code = 4


class DataError(CommscopeError):
    """The trace was read, but does not hold what the question needs."""

    exit_code = 5


class NoDeviceEvents(DataError):
    """No file holds any activity of a GPU."""


class RankConflict(DataError):
    """Two files claim to be the same rank over the same time."""
