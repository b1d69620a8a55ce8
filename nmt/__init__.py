"""Neural machine translation by jointly learning to align and translate (Bahdanau, Cho & Bengio, ICLR 2015)."""

__version__ = "0.1.0"
