"""Speed and memory of the data pipeline, from archives to binary text."""
