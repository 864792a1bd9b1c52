"""What runs where a job runs: it starts the job, and keeps what tells of it.

Needs Python 3.9 and its standard library only, and nothing else of commscope, so that this package
alone can be taken to where nothing can be installed (``make pyz``).
"""
