"""Small real traces with known answers."""
