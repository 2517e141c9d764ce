"""The schema families, one a file. A file registers its family when it is imported; nothing else names it."""
