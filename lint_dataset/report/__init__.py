"""The reports: one file per output format, all of the same result."""
