"""Who writes the next kernel: built in, a program, or whoever submits."""
