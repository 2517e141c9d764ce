"""Formats of files, one a file."""
