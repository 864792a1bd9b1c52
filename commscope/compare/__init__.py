"""Two runs, or several of each, set against each other: what changed, by how much, and why."""
