"""Attention, with holes: replace each `...` with code. `python check.py` says which part is wrong.

B sentences, S source words (with the end symbol, then padding), N numbers of a state, C = 2N of an annotation, A of the
alignment model, V words of the target vocabulary. Equations are those of Bahdanau et al. (2015).
"""

import torch

END = 0  # id of the end symbol


def energy(s, h, w):
    """Return e_ij = v_a^T tanh(W_a s_{i-1} + U_a h_j), (B, S): how well source word j fits (App. A.1.2).

    s: s_{i-1}, (B, N). h: annotations, (B, S, C). w: weights w.W_a (N, A), w.U_a (C, A), w.v_a (A,); they multiply from
    the right, s @ w.W_a.
    """
    ...


def softmax(e, padding):
    """Return alpha_ij, (B, S): positive, with sum 1 over the words of a sentence, 0 where padding is True (Eq. 6)."""
    ...


def context(alpha, h):
    """Return c_i = sum_j alpha_ij h_j, (B, C) (Eq. 5)."""
    ...


def decoder_step(s, y, h, padding, model):
    """Return p, s_i and alpha_i of one step (Sec. 3.1).

    s: s_{i-1}, (B, N). y: the embedding of the word before, y_{i-1}. model.w: the weights of `energy`.
    model.unit(y, s, c) is f of s_i = f(s_{i-1}, y_{i-1}, c_i), (B, N).
    model.output(s, y, c) is g of p = g(y_{i-1}, s_i, c_i), the log-probabilities of all words, (B, V).
    """
    ...


def translate(s, h, padding, model, max_words=50):
    """Return the ids of a translation of one sentence (B = 1): the likeliest word of each step, up to the end symbol.

    s: s_0. model.embed(word) is the embedding (1, M) of the id `word`; before the first word it is
    model.no_word, zeros. The end symbol ends the translation and is no word of it. At most `max_words` words.
    """
    ...


# Part 2: other energies (Luong et al., 2015), with the arguments of `energy`.


def dot(s, h, w):
    """Return e_ij = s_{i-1}^T (forward h_j + backward h_j), (B, S). Both are halves of h_j; there are no weights."""
    ...


def general(s, h, w):
    """Return e_ij = s_{i-1}^T W h_j, (B, S), with w.W, (N, C)."""
    ...
