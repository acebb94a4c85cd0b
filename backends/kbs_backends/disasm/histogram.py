"""How often each opcode stands in a function."""

from collections import Counter

from kbs_engine.signatures import FunctionListing, Scope


def opcode_histogram(
    function: FunctionListing, scope: Scope = "function", *, modifiers: bool = False
) -> dict[str, int]:
    """Count mnemonics (or full opcodes, with `modifiers`), most frequent first, ties by name.

    A function without a loop has no main loop: its histogram there is empty.
    """
    instructions = function.within(scope) or ()
    counts = Counter(i.opcode if modifiers else i.mnemonic for i in instructions)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
