"""Pure functions from tables to tables: what the numbers are."""
