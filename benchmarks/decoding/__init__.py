"""Beam search compared with JoeyNMT and Marian, at the paper's sizes: `make bench-decoding`.

A model with random weights does not end its sentences sensibly. So the end symbol is forbidden, and a batch is decoded
for one step more than its longest source has words. All contenders get the same sentences in the same batches of
similar length, the same beam size, and the same number of threads. They take turns, batch after batch. Marian divides a
batch into smaller ones.
"""
