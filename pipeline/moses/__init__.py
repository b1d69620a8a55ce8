"""A phrase-based system on the same text: Moses (Koehn et al., 2007) with eflomal's word alignments.

The programs are theirs; here stands what each is given, and how a run that was stopped continues.
"""
