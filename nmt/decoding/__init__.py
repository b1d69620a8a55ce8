"""Beam search, ensembles, forced decoding, translation of test sets and of any text."""
