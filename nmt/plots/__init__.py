"""Figures of one sentence: its attention, or its tree; and the style of all figures.

Import this package before matplotlib, as its modules do.
"""

import os
import shutil

from nmt.io.system import query_program

# matplotlib asks fc-list for fonts, without a time limit. Without this, an fc-list that hangs would stop every figure.
if shutil.which("fc-list") and query_program("fc-list", "--format=%{file}") is None:
    os.environ.setdefault("MPL_IGNORE_SYSTEM_FONTS", "1")
