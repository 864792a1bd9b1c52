"""commscope: which communication was exposed, why, and what fixing it would win."""
