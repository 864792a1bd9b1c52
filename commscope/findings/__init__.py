"""Rules that judge a trace: can it be trusted, and what is wrong."""
