"""Rows of a table by index; the bytes that must move are declared."""

import torch

family = "gather_scatter"


def setup(rows=4096, picked=1024, width=256, **_):
    return {
        "inputs": {
            "table": torch.randn(rows, width, device="cuda"),
            "index": torch.randint(0, rows, (picked,), device="cuda"),
            "out": torch.empty(picked, width, device="cuda"),
        },
        "outputs": ["out"],
    }


def reference(table, index, out, **_):
    out.copy_(table[index])


def bytes(rows=4096, picked=1024, width=256, **_):
    # indices may repeat: what surely moves is what so many draws pick in the mean, halved
    distinct = rows * (1 - (1 - 1 / rows) ** picked) / 2
    return {"in": 4 * distinct * width + 8 * picked, "out": 4 * picked * width}
