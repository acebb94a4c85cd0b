"""Accuracy on labelled kernels and cases, beside plain baselines: pure functions over records."""
