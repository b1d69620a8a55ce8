"""The translation explorer: one HTML file, made of the files beside this one."""
