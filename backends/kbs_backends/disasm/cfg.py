"""Control flow of one function: reachable blocks, dominators, natural loops, the main loop."""

from collections.abc import Mapping, Sequence

import msgspec


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What control flow needs to know of one instruction: targets are instruction indices.

    `waits` marks locks and sleeps, `polls` tests of a barrier or a vote,
    `works` memory access and arithmetic.
    """

    targets: tuple[int, ...] = ()
    falls_through: bool = True
    waits: bool = False
    polls: bool = False
    works: bool = False


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A run of instructions [start, end) entered only at its head."""

    start: int
    end: int
    successors: tuple[int, ...]


class Loop(msgspec.Struct, frozen=True, kw_only=True):
    """A natural loop: the instruction index of its header and all indices of its body."""

    header: int
    body: tuple[int, ...]


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """Basic blocks and natural loops of one function."""

    blocks: int
    loops: tuple[Loop, ...]


SPIN_LOOP_MAX = 16
"""A loop this short that waits on a barrier, a lock or a timer is a spin loop, not work."""


def basic_blocks(steps: Sequence[Step]) -> tuple[Block, ...]:
    """Cut a function into basic blocks; successors are block numbers."""
    if not steps:
        return ()
    heads = {0}
    for index, step in enumerate(steps):
        if step.targets or not step.falls_through:
            heads.update(step.targets)
            heads.add(index + 1)
    starts = sorted(h for h in heads if h < len(steps))
    number = {start: n for n, start in enumerate(starts)}
    ends = [*starts[1:], len(steps)]
    return tuple(
        Block(start=start, end=end, successors=_successors(steps, end, number))
        for start, end in zip(starts, ends, strict=True)
    )


def _successors(steps: Sequence[Step], end: int, number: Mapping[int, int]) -> tuple[int, ...]:
    last = steps[end - 1]
    out = [number[t] for t in last.targets if t in number]
    if last.falls_through and end in number:
        out.append(number[end])
    return tuple(dict.fromkeys(out))


def natural_loops(steps: Sequence[Step]) -> tuple[Loop, ...]:
    """Return the natural loops of the reachable code; loops that share a header are merged."""
    blocks = basic_blocks(steps)
    if not blocks:
        return ()
    order = _reverse_postorder(blocks)
    dominators = _dominators(blocks, order)
    members: dict[int, set[int]] = {}
    for block in order:
        for successor in blocks[block].successors:
            if successor in dominators[block]:
                members.setdefault(successor, {successor}).update(
                    _body(blocks, order, block, successor)
                )
    return tuple(
        Loop(header=blocks[head].start, body=_indices(blocks, body))
        for head, body in sorted(members.items())
    )


def main_loop(steps: Sequence[Step]) -> Loop | None:
    """Return the innermost loop with most instructions, the first on a tie, spin loops aside."""
    loops = [loop for loop in natural_loops(steps) if not _spins(loop, steps)]
    innermost = [
        a for a in loops if not any(a is not b and set(b.body) < set(a.body) for b in loops)
    ]
    return max(innermost, key=lambda loop: (len(loop.body), -loop.header), default=None)


def flow_of(steps: Sequence[Step]) -> Flow:
    """Count the blocks and list the loops, nested ones each."""
    return Flow(blocks=len(basic_blocks(steps)), loops=natural_loops(steps))


def _spins(loop: Loop, steps: Sequence[Step]) -> bool:
    body = [steps[i] for i in loop.body]
    if len(body) > SPIN_LOOP_MAX:
        return False
    idle = any(s.polls for s in body) and not any(s.works for s in body)
    return idle or any(s.waits for s in body)


def _reverse_postorder(blocks: Sequence[Block]) -> list[int]:
    seen = {0}
    finished: list[int] = []
    stack = [(0, iter(blocks[0].successors))]
    while stack:
        block, successors = stack[-1]
        following = next((s for s in successors if s not in seen), None)
        if following is None:
            finished.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(blocks[following].successors)))
    return finished[::-1]


def _dominators(blocks: Sequence[Block], order: Sequence[int]) -> dict[int, set[int]]:
    predecessors = _predecessors(blocks, order)
    dominators = {block: set(order) for block in order}
    dominators[order[0]] = {order[0]}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            new = set.intersection(*(dominators[p] for p in predecessors[block])) | {block}
            if new != dominators[block]:
                dominators[block] = new
                changed = True
    return dominators


def _predecessors(blocks: Sequence[Block], order: Sequence[int]) -> dict[int, list[int]]:
    predecessors: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for successor in blocks[block].successors:
            predecessors[successor].append(block)
    return predecessors


def _body(blocks: Sequence[Block], order: Sequence[int], tail: int, head: int) -> set[int]:
    predecessors = _predecessors(blocks, order)
    body = {head, tail}
    waiting = [tail] if tail != head else []
    while waiting:
        for previous in predecessors[waiting.pop()]:
            if previous not in body:
                body.add(previous)
                waiting.append(previous)
    return body


def _indices(blocks: Sequence[Block], body: set[int]) -> tuple[int, ...]:
    return tuple(i for block in sorted(body) for i in range(blocks[block].start, blocks[block].end))
