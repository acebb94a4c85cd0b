"""The gate: rules that a version must keep before the next one may begin."""
