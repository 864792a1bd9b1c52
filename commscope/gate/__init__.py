"""The gate: whether a run is as good as asked for, or as its baseline was."""
