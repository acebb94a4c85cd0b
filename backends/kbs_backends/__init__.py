"""The metal: compile, check, time, profile and disassemble kernels."""
