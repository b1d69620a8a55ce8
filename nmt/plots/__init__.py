"""Figures of one sentence: its attention, or its tree.

Import this package before matplotlib, as its modules do.
"""

import os
import shutil

from nmt.io.system import query_program

# matplotlib asks fc-list for fonts, without a time limit: a hanging one would stop every figure (3.10 knows no way out)
if shutil.which("fc-list") and query_program("fc-list", "--format=%{file}") is None:
    os.environ.setdefault("MPL_IGNORE_SYSTEM_FONTS", "1")
