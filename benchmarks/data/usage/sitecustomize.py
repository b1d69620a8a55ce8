"""A note of what a process has used. Python loads this module if its folder is on the path (PYTHONPATH).

The note is one JSON file in the folder that NMT_BENCHMARK_USAGE names. It has the subcommand, its seconds by the clock
and on processors, and the most memory of the process and of the largest of its children (MB of 2^20 bytes).
"""

import atexit
import json
import os
import resource
import sys
import time

_BEGIN = time.monotonic()


def _peak_mb() -> float:
    """Return the most memory that this program has held. ru_maxrss would include what its parent held at the fork."""
    with open("/proc/self/status", encoding="ascii") as status:
        (line,) = [line for line in status if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def _note() -> None:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    used = {
        "subcommand": " ".join(sys.argv[1:3]),
        "seconds": time.monotonic() - _BEGIN,
        "processor_seconds": sum((own.ru_utime, own.ru_stime, children.ru_utime, children.ru_stime)),
        "peak_mb": _peak_mb(),
        "children_peak_mb": children.ru_maxrss / 1024,
    }
    path = os.path.join(os.environ["NMT_BENCHMARK_USAGE"], f"{os.getpid()}-{time.time_ns()}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(used, file)


if "NMT_BENCHMARK_USAGE" in os.environ and "nmt" in sys.orig_argv:
    atexit.register(_note)
