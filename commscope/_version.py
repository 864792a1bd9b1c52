"""The version, alone in a file so that a build can read it without importing anything."""

__version__ = "0.1.0"

#: Version of what the tables of a parser and the numbers of a report mean: it counts on with every
#: change after which numbers of two versions cannot be compared.
DEFINITIONS_VERSION = 1
