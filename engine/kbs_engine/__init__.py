"""The ground: records, ports, and every decision. Knows no file format, GPU or terminal."""

__version__ = "0.1.0"
"""Of the whole house; a run's journal names the one that began it."""
