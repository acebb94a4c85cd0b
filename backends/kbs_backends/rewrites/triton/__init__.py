"""Rewrites of Triton kernels, one method a module."""
