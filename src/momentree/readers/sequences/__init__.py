"""Sequences of codes: which codes follow each other in a trajectory or a stream of clicks."""
