"""The Dash app: a run to look at, on every rank. ``create_app`` is for notebooks and servers."""
