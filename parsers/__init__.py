"""Parsers: one format each, all filling the tables of commscope.schema."""
