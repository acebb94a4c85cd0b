"""Rewrites of CUDA C++ kernels, one method a module."""
