"""Reports: pure functions from records to Markdown."""
