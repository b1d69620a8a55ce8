"""Marian's search in a process of its own environment: `python marian.py OPTIONS...`, a JSON line in and out.

{"sentences": [[5, 9], ...]} -> seconds, words written for each
"""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    """Serve until the input ends; whatever else is printed goes to standard error."""
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
