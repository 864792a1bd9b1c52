"""From what parsers read to one trace: repair, launches, ranks, steps."""
