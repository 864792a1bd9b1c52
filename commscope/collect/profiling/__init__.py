"""Profiling a job without changing its code.

``prepare`` gives the variables that the launcher adds to the environment of the job; each Python
process of the job then reads them (``inject``) and records itself, or has rocprofv3 record it.
"""
