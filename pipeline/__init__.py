"""The pipeline around the library `nmt`: experiments, corpora, tables, figures, pages, publishing, monitoring."""
