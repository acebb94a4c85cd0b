"""Write the generated parts of the documentation: `python -m tools.generate_docs`.

Tables come from the wiki and from the outcomes that `make probes` recorded; nothing is compiled.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kbs_ingest.wiki.load import load_wiki
from kbs_ingest.wiki.model import Wiki
from tools import coverage_hardware, coverage_methods, wiki_index
from tools.markdown_table import between
from tools.recorded import Recorded

ROOT = Path(__file__).resolve().parent.parent
WIKI = ROOT / "gpu-wiki"
TEMPLATE = Path(__file__).with_name("coverage_template.md")


def coverage(wiki: Wiki, recorded: Recorded) -> str:
    """Return docs/coverage.md."""
    compilers = ", ".join(f"{name} {version}" for name, version in recorded.compilers.items())
    return TEMPLATE.read_text(encoding="utf-8").format(
        counts=coverage_methods.counts_table(wiki),
        methods=coverage_methods.methods_table(wiki, recorded),
        date=recorded.date,
        compilers=compilers,
        signature_counts=coverage_methods.signature_counts(wiki, recorded),
        signatures=coverage_methods.signatures_table(wiki, recorded),
        blind=coverage_methods.blind_table(wiki),
        symptoms=coverage_methods.symptoms_table(wiki),
        hardware=coverage_hardware.hardware_table(wiki).rstrip(),
    )


def index(wiki: Wiki, text: str) -> str:
    """Return gpu-wiki/README.md with its tables made anew."""
    pages = wiki_index.pages_of(WIKI)
    text = between(text, "gpus", wiki_index.gpus_table(wiki, pages))
    return between(text, "limits", wiki_index.limits_table(pages))


def documents() -> dict[Path, str]:
    """Return every file with generated text, as it must be."""
    wiki = load_wiki([WIKI])
    readme = WIKI / "README.md"
    return {
        ROOT / "docs" / "coverage.md": coverage(wiki, Recorded()),
        readme: index(wiki, readme.read_text(encoding="utf-8")),
    }


def main() -> int:
    """Write what differs."""
    for path, text in documents().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
