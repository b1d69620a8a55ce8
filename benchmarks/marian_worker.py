"""Marian's search in a process of its own environment: `python marian_worker.py OPTIONS...`.

Each line of input is a request as JSON. Each line of output is the reply:

    {"sentences": [[5, 9], ...]} -> seconds, the length of each translation in words
"""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    """Answer requests until the input ends."""
    # Replies go to the original standard output; what Marian prints to standard output goes to standard error.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from pymarian import Translator  # type: ignore[import-not-found]

    translator = Translator(" ".join(sys.argv[1:]))
    for request in sys.stdin:
        lines = []
        for word_ids in json.loads(request)["sentences"]:
            words = [f"w{word_id}" for word_id in word_ids]
            lines.append(" ".join(words))
        start = time.perf_counter()
        translations = translator.translate(lines)
        seconds = time.perf_counter() - start
        reply = {"seconds": seconds, "lengths": [len(text.split()) for text in translations]}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
