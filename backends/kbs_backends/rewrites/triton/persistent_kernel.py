"""As many programs as the machine holds at a time, each walking over many tiles."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.copies import (
    arguments,
    branch_launch,
    copied,
    each_kernel,
    grid_size,
    reassigned_params,
    torch_name,
)
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.helpers import require_no_reader
from kbs_backends.rewrites.triton.view import Kernel, View, axis_of, view_of
from kbs_backends.variants.records import Edit

METHOD = "persistent_kernel"
_SUFFIX = "_kbs_persistent"
_PROGRAMS = '''
def kbs_programs(tiles):
    """Programs that are resident at a time, never more than there are tiles."""
    units = 1
    if {torch}.cuda.is_available():
        device = {torch}.cuda.current_device()
        units = {torch}.cuda.get_device_properties(device).multi_processor_count
    return min(tiles, units * KBS_PROGRAMS_PER_UNIT)
'''


def rewrite(source: RewriteSource) -> Rewritten:
    """Add a persistent form of each kernel that can have one; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    torch = torch_name(view)
    done = each_kernel(view, lambda kernel: _one(draft, kernel))
    draft.tunable("KBS_PROGRAMS_PER_UNIT", 2, (1, 2, 4, 8), host=True)
    draft.helper(_PROGRAMS.format(torch=torch))
    return draft.finish(f"persistent: {', '.join(kernel.name for kernel in done)}", host=True)


def _one(draft: TritonDraft, kernel: Kernel) -> None:
    view = draft.view
    _require(kernel)
    launches = [(launch, grid_size(view, launch)) for launch in view.launches_of(kernel)]
    name = kernel.name + _SUFFIX
    text = copied(view, kernel, name, "kbs_tiles", _looped(view, kernel))
    branches = TritonDraft(view, METHOD)
    for launch, size in launches:
        lines = [
            f"kbs_tiles = {size}",
            f"{name}[(kbs_programs(kbs_tiles),)](kbs_tiles, {arguments(view, launch)})",
        ]
        branch_launch(branches, launch, draft.switch, lines)
    draft.edits += branches.edits
    draft.below(text, view.line_end(kernel.node))


def _require(kernel: Kernel) -> None:
    if kernel.autotuned:
        raise NotApplicableError(f"{kernel.name} is autotuned: its tiles are not known on the host")
    calls = kernel.calls("program_id")
    if not calls or any(axis_of(kernel.view, call) != "0" for call in calls):
        raise NotApplicableError(f"{kernel.name} is not numbered along one axis")
    if kernel.calls("num_programs"):
        raise NotApplicableError(f"{kernel.name} depends on the number of programs")
    require_no_reader(kernel)
    if any(isinstance(node, cst.Return) for node in kernel.walk()):
        raise NotApplicableError(f"{kernel.name} returns early, which a loop over tiles may not")
    if changed := reassigned_params(kernel):
        raise NotApplicableError(f"{kernel.name} changes its parameter {min(changed)}")
    if not kernel.body:
        raise NotApplicableError(f"{kernel.name} has its body on one line")


def _looped(view: View, kernel: Kernel) -> list[Edit]:
    tl = view.tl
    start = view.line_start(kernel.body[0])
    indent = view.indent(kernel.body[0])
    header = [
        f"kbs_turns = {tl}.cdiv(kbs_tiles - {tl}.program_id(0), {tl}.num_programs(0))",
        f"for kbs_step in {tl}.range(0, kbs_turns):",
        f"    kbs_tile = {tl}.program_id(0) + kbs_step * {tl}.num_programs(0)",
    ]
    edits = [Edit(start, start, "".join(f"{indent}{line}\n" for line in header))]
    edits += [Edit(*view.tree.span(call), "kbs_tile") for call in kernel.calls("program_id")]
    position = start
    while position < kernel.span[1]:
        end = view.data.find(b"\n", position)
        end = len(view.data) if end < 0 else end
        if view.data[position:end].strip():
            edits.append(Edit(position, position, "    "))
        position = end + 1
    return edits
