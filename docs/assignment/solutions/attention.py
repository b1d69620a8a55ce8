"""The assignment's holes, filled."""

import torch

END = 0


def energy(s, h, w):
    """Return the energies of the alignment model (App. A.1.2)."""
    return torch.tanh((s @ w.W_a).unsqueeze(1) + h @ w.U_a) @ w.v_a


def softmax(e, padding):
    """Return the weights (Eq. 6)."""
    return e.masked_fill(padding, -torch.inf).softmax(dim=1)


def context(alpha, h):
    """Return the weighted sum of the annotations (Eq. 5)."""
    return (alpha.unsqueeze(2) * h).sum(dim=1)


def decoder_step(s, y, h, padding, model):
    """Return p, s_i and alpha_i (Sec. 3.1)."""
    alpha = softmax(energy(s, h, model.w), padding)
    c = context(alpha, h)
    s = model.unit(y, s, c)
    return model.output(s, y, c), s, alpha


def translate(s, h, padding, model, max_words=50):
    """Return the likeliest word of each step, up to the end symbol."""
    words, y = [], model.no_word
    while len(words) < max_words:
        p, s, _ = decoder_step(s, y, h, padding, model)
        word = int(p.argmax())
        if word == END:
            break
        words.append(word)
        y = model.embed(word)
    return words


def dot(s, h, w):
    """Return the energies of dot-product attention."""
    forward, backward = h.chunk(2, dim=2)
    return ((forward + backward) @ s.unsqueeze(2)).squeeze(2)


def general(s, h, w):
    """Return the energies of general attention."""
    return (h @ (s @ w.W).unsqueeze(2)).squeeze(2)
