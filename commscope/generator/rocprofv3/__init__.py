"""Writes what rocprofv3 would have recorded of a simulated process."""
