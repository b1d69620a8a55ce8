"""Speed and memory of a training update, compared with peers and the machine's limit: `make bench-training`.

The driver (`__main__`) starts each contender as a process (`worker`), and lets them take turns (`contest`). Only one of
them works at a time, and all meet the same disturbances. `report` makes the figures and the table.
"""
