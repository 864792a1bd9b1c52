"""What the logs of a job say, put together over its processes."""
