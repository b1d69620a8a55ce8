"""Figures as PDF and PNG, each plotted from the replication package of a run."""
