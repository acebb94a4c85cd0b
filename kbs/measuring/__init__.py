"""Commands that measure: dims, devices, sources."""
