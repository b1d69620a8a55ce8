"""Marian's search in a process of its own environment: `python marian_worker.py OPTIONS...`.

Each line of input is a request as JSON. Each line of output is the reply:

    {"sentences": [[5, 9], ...]} -> seconds, the number of words written for each sentence
"""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    """Answer requests until the input ends. All else that is printed goes to standard error."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from pymarian import Translator  # type: ignore[import-not-found]

    translator = Translator(" ".join(sys.argv[1:]))
    for line in iter(sys.stdin.readline, ""):
        lines = [" ".join(f"w{word}" for word in words) for words in json.loads(line)["sentences"]]
        begin = time.perf_counter()
        found = translator.translate(lines)
        seconds = time.perf_counter() - begin
        reply = {"seconds": seconds, "written": [len(text.split()) for text in found]}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
