"""Speed and memory of a training update, against peers and the machine's limit: `make bench-training`.

The driver (`__main__`) starts each contender as a process of its own (`worker`) and lets them take turns (`contest`),
so that all meet the same noise; only one works at a time. `report` makes figures and the table of what was measured.
"""
