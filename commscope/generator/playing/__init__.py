"""Plays a schedule for real: the program that does it, how it is compiled, started and read."""
