"""A phrase-based system on the same text: Moses (Koehn et al., 2007) with eflomal's word alignments.

These modules run the programs of Moses and eflomal, and continue a run that was stopped.
"""
