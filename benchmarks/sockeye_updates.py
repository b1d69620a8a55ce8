"""Sockeye's `train` with a line on standard error after each update. It runs in Sockeye's own environment."""

import sys

from sockeye import train, training  # before mxnet, which starts threads

make_update = training.EarlyStoppingTrainer._step


def announce_update(*arguments, **options):  # type: ignore[no-untyped-def]
    """Make an update, wait for its end, because MXNet computes in the background, and print that it is done."""
    import mxnet

    result = make_update(*arguments, **options)
    mxnet.nd.waitall()
    print("\nUpdate done", file=sys.stderr, flush=True)
    return result


if __name__ == "__main__":
    training.EarlyStoppingTrainer._step = announce_update
    train.main()
