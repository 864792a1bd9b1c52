"""The report: one model, several outputs."""
