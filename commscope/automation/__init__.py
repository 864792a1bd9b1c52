"""The report that is there when the job ends: what runs once nobody waits any more.

``finish`` reads the files of one node, ``join`` makes one report of all nodes, ``watch`` does the
same for whatever appears in a folder. ``publish`` lets exactly one of several processes write a
report, whole or not at all; nothing here takes a lock.
"""
