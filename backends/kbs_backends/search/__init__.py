"""Which assignments of a source's tunables are tried next, given what was measured."""

from kbs_backends.search.propose import ENUMERATED, propose_variants
from kbs_engine.loop.branching import Space, Trial

__all__ = ["ENUMERATED", "Space", "Trial", "propose_variants"]
