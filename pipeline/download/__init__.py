"""Archives from mirrors or their official addresses, and the two sides of a corpus out of them."""
