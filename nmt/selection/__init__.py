"""Data selection by cross-entropy difference (Axelrod et al., 2011)."""
