"""Figures as PDF and PNG."""

import nmt.plots  # noqa: F401  # before matplotlib
