"""BLEU, significance, alignment error rate."""
