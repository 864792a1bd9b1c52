"""Jobs written in PyTorch, with the knobs of a plan: what their ranks run, and how they are run."""
