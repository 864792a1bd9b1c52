"""A trace and the logs of its job, joined: what each collective used of the library."""
