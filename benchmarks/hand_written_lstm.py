"""An LSTM's recurrence with a hand-written backward pass, as `nmt.model.gru` has one for the gated unit.

It is what `nmt.model.families.lstm` would hold if torch's LSTM were slower: the benchmark keeps the comparison alive.
Shapes: T steps, B sentences, N hidden units; pre-activations are [i | f | g | o] side by side.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class HandWrittenScan(torch.autograd.Function):
    """h_0..h_T, (T+1, B, N), from projected inputs (T, B, 4N), U (N, 4N) and a first state of 0."""

    @staticmethod
    def forward(ctx: Any, projected: Tensor, U: Tensor) -> Tensor:
        """One product with U per step; states and gates are kept."""
        steps, batch, width = projected.shape
        hidden = width // 4
        h, c = (projected.new_zeros(steps + 1, batch, hidden) for _ in range(2))
        gates, squashed = torch.empty_like(projected), projected.new_empty(steps, batch, hidden)
        for t in range(steps):
            inner = torch.addmm(projected[t], h[t], U, out=gates[t])
            i, f, g, o = inner.chunk(4, dim=1)
            inner[:, : 2 * hidden].sigmoid_()
            g.tanh_()
            o.sigmoid_()
            torch.mul(f, c[t], out=c[t + 1]).addcmul_(i, g)
            torch.tanh(c[t + 1], out=squashed[t])
            torch.mul(o, squashed[t], out=h[t + 1])
        ctx.save_for_backward(h, c, gates, squashed, U)
        return h

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        """Gradients of projected inputs and U; that of U is one product over all steps."""
        (grad_h,) = grads
        h, c, gates, squashed, U = ctx.saved_tensors
        steps = len(squashed)
        found, back = torch.empty_like(gates), U.t()
        dh, dc = grad_h[steps], torch.zeros_like(squashed[0])
        for t in reversed(range(steps)):
            i, f, g, o = gates[t].chunk(4, dim=1)
            di, df, dg, do = found[t].chunk(4, dim=1)
            dc = torch.addcmul(dc, dh * o, 1 - squashed[t] * squashed[t])
            torch.mul(dh * squashed[t], o - o * o, out=do)
            torch.mul(dc * g, i - i * i, out=di)
            torch.mul(dc * c[t], f - f * f, out=df)
            torch.mul(dc * i, 1 - g * g, out=dg)
            dc = dc * f
            dh = torch.addmm(grad_h[t], found[t], back)
        return found, h[:-1].flatten(0, 1).t() @ found.flatten(0, 1)
