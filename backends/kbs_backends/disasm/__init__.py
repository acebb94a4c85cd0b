"""Disassembly text into functions, instructions, loops and counts."""

from kbs_backends.disasm.amdgcn import parse_amdgcn
from kbs_backends.disasm.histogram import opcode_histogram
from kbs_backends.disasm.sass import parse_sass

__all__ = ["opcode_histogram", "parse_amdgcn", "parse_sass"]
