"""What each rank of a torch job runs, in a Python that has torch and need not have commscope.

Python runs this folder, which loads itself as a package of another name: imports in here are
relative, and of torch and the standard library only.
"""
