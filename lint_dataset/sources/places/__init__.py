"""Places that rows come from other than one local file, one a file."""
