"""One module per command, imported only when it runs; each has a ``command``."""
