"""Disassembly text into functions, instructions, loops and counts."""

from kbs_backends.disasm.amdgcn import amdgcn_flows, parse_amdgcn
from kbs_backends.disasm.histogram import opcode_histogram
from kbs_backends.disasm.sass import parse_sass, sass_flows

__all__ = ["amdgcn_flows", "opcode_histogram", "parse_amdgcn", "parse_sass", "sass_flows"]
