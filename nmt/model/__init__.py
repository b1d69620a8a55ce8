"""The models: encoders, decoders, attention, their initial weights, and their equations in plain loops.

Letters of dimensions, the same in every module. Vectors are rows, so a weight is (inputs, outputs).

    B  sentences of a batch             S  source length
    K  hypotheses per sentence          T  target length, or steps of a recurrence
    R  active hypotheses of all B * K   P  positions that count, of all T * B
    N  hidden units                     M  embedding size
    C  context: 2N, or N without        A  units of the alignment model
       attention                        L  maxout units
    F  features that W_o multiplies     V  words of the target vocabulary
    D  directions of an encoder

Steps come first, (T, B, ...), where a recurrence runs over them; sentences come first, (B, S, ...), where attention
does.
"""
