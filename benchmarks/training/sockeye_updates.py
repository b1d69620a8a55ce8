"""Sockeye's `train`, with a line on standard error when an update has been computed; runs in its own environment."""

import sys

from sockeye import train, training  # before mxnet, which starts threads

step = training.EarlyStoppingTrainer._step
done = 0


def announced(*arguments, **options):  # type: ignore[no-untyped-def]
    """An update; MXNet computes it behind Python's back until it is waited for."""
    import mxnet

    global done
    found = step(*arguments, **options)
    mxnet.nd.waitall()
    done += 1
    print(f"\nUp. {done} done", file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    training.EarlyStoppingTrainer._step = announced
    train.main()
