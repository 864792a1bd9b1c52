"""What runs inside the processes of a job to profile it, with nothing but the standard library.

The job's Python need not have commscope: the launcher copies this folder next to the job and the
files run there as a package of another name. That is why the imports in here are relative.
"""
