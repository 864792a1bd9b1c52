"""Loading: from paths to a trace."""
