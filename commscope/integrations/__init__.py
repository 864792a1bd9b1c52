"""Hooks for training loops: traces of a few steps, and a report of them after the training."""
