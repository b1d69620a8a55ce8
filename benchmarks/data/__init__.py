"""Speed and memory of the way of the data, from archives to binary text."""
