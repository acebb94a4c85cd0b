"""The measuring session on a GPU host, once: figures with card and date, as JSON.

    python -m tests.gpu.record_measuring --out OUT --seconds 540 --part isolation,hostile=60
    python -m tests.gpu.record_measuring --out OUT --dry          # on the host device, seconds

Parts: isolation, hostile, near_roof, languages, self_comparison, power. Each writes one file;
a part gets the seconds that it is given, or its share of those left; each stops in good order.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.gpu import calibration, isolation, languages, near_roof
from tests.gpu.session import Session

PARTS = {
    "isolation": isolation.cost,
    "hostile": isolation.hostile,
    "near_roof": near_roof.run,
    "languages": languages.run,
    "power": calibration.spin_power,
    "self_comparison": calibration.self_comparisons,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=540.0)
    parser.add_argument("--part", default=",".join(PARTS))
    parser.add_argument("--dry", action="store_true")
    parser.add_argument("--rows", default="", help="of the table: softmax:*,*:cute-dsl")
    parser.add_argument("--waiting", type=int, help="processes opened ahead; 0 to see what they do")
    parser.add_argument("--chip", type=Path, help="a cited chip as JSON, where there is no wiki")
    options = parser.parse_args(arguments)
    parts = [part.partition("=")[::2] for part in options.part.split(",")]
    unknown = [name for name, _ in parts if name not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="kbs-gpu-") as work:
        whole = Session(
            out=options.out,
            work=Path(work),
            seconds=options.seconds,
            dry=options.dry,
            chip_file=options.chip,
            waiting=options.waiting,
            rows=frozenset(filter(None, options.rows.split(","))),
        )
        try:
            for number, (name, given_s) in enumerate(parts):
                whole.seconds = options.seconds
                left_s = whole.left_s
                share_s = min(left_s, float(given_s or left_s / (len(parts) - number)))
                whole.seconds = options.seconds - left_s + share_s
                print(f"{name}: {share_s:.0f} s", flush=True)
                PARTS[name](whole)
        finally:
            whole.device.close()
            whole.pack()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
