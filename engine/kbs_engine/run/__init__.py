"""The run folder: its records, its journal, its files."""
