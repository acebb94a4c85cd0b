"""Rows of a table by index, by torch."""

import torch


def setup(rows=4096, picked=1024, width=256, **_):
    return {
        "inputs": {
            "table": torch.randn(rows, width, device="cuda"),
            "index": torch.randint(0, rows, (picked,), device="cuda"),
            "out": torch.empty(picked, width, device="cuda"),
        },
        "outputs": ["out"],
    }


def run_kernel(table, index, out, **_):
    torch.index_select(table, 0, index, out=out)
