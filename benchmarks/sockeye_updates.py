"""Sockeye's `train` with a line on standard error after each update. It runs in Sockeye's own environment."""

import sys

from sockeye import train, training  # before mxnet, which starts threads

step = training.EarlyStoppingTrainer._step
done = 0


def announced(*arguments, **options):  # type: ignore[no-untyped-def]
    """Make an update, and wait for its end, because MXNet computes in the background."""
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
