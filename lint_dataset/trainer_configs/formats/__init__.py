"""One file a format of trainer configuration. A file here is found and imported by itself."""
