"""Beam search against JoeyNMT, at the paper's sizes: `make bench-decoding`.

Random weights never end a sentence by themselves, so the end symbol is forbidden in both and a batch is decoded for
exactly as many steps as its longest source has words, and one more. Both get the same sentences in the same batches of
like length, the same beam and the same number of threads, and take turns, batch after batch.
"""
