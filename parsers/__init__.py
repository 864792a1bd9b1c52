"""Parsers: one format each, all filling the tables of commscope.schema.

``registry`` lists them; it is not imported here, as finding files needs none of them.
"""
