"""The process that measures: one JSON document on stdout, progress on stderr."""

from __future__ import annotations

import argparse
import json
import sys

from kbs_backends.ceilings.measure import DTYPES, measure_all


def main() -> None:
    """Measure the first visible CUDA device."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--buffer-mib", type=int, default=1024)
    parser.add_argument("--gpu", default="0", help="index or uuid for nvidia-smi")
    parser.add_argument("--command", default="kbs ceiling")
    options = parser.parse_args()
    record = measure_all(
        dtypes=[name for name in options.dtypes.split(",") if name],
        buffer_mib=options.buffer_mib,
        gpu=options.gpu,
        command=options.command,
    )
    sys.stdout.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
