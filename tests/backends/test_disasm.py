"""Parsers on short listings, and every probe of the wiki through the real compilers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kbs_backends.disasm import opcode_histogram, parse_amdgcn, parse_sass
from kbs_backends.disasm.cfg import Step, basic_blocks, main_loop, natural_loops
from kbs_backends.disasm.sass import split_operands
from kbs_backends.disasm.tools import DisassemblerFailure, disassemble_cubin, find_nvdisasm
from tests.probes import run_probes
from tests.probes.selection import changed_files, of_the_week
from tests.probes.toolchain import default_cache

NVDISASM = """\
	.section	.nv.info,"",@"SHT_CUDA_INFO"
        /*0000*/ 	.byte	0x04, 0x2f
//--------------------- .text.scale          --------------------------
	.section	.text.scale,"ax",@progbits
.text.scale:
        /*0000*/                   S2R R13, SR_TID.X ;
        /*0010*/                   ISETP.GE.AND P0, PT, R13, UR5, PT ;
        /*0020*/               @P0 EXIT ;
.L_x_1:
        /*0030*/                   IMAD.WIDE R6, R13, 0x10, R8 ;
        /*0040*/                   LDG.E.128.CONSTANT R4, desc[UR6][R6.64] ;
        /*0050*/                   STG.E.128 desc[UR6][R2.64], R4 ;
        /*0060*/              @!P0 BRA `(.L_x_1) ;
        /*0070*/                   EXIT ;
.L_x_2:
        /*0080*/                   BRA `(.L_x_2);
        /*0090*/                   NOP;
.L_x_7:
"""

CUOBJDUMP = """\
	code for sm_90a
		Function : scale
	.headerflags	@"EF_CUDA_SM90"
        /*0000*/                   S2R R13, SR_TID.X ;              /* 0x0000000000007919 */
                                                                    /* 0x000e220000002100 */
        /*0010*/                   ISETP.GE.AND P0, PT, R13, UR5, PT ; /* 0x0000000000007919 */
        /*0020*/               @P0 EXIT ;                           /* 0x000000000000094d */
        /*0030*/                   IMAD.WIDE R6, R13, 0x10, R8 ;    /* 0x0000000000007919 */
        /*0040*/                   LDG.E.128.CONSTANT R4, desc[UR6][R6.64] ; /* 0x1 */
        /*0050*/                   STG.E.128 desc[UR6][R2.64], R4 ; /* 0x0 */
        /*0060*/              @!P0 BRA 0x30 ;                       /* 0xfffffffc00e08947 */
        /*0070*/                   EXIT ;                           /* 0x000000000000794d */
        /*0080*/                   BRA 0x80;                        /* 0xfffffffc00fc7947 */
        /*0090*/                   NOP;                             /* 0x0 */
"""

TRY_WAIT = """\
.text.consumer:
        /*0000*/                   MOV R1, RZ ;
.L_x_8:
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R3+UR9], R0 ;
        /*0020*/              @!P0 BRA `(.L_x_7) ;
.L_x_9:
        /*0030*/                   LDS R0, [R0] ;
        /*0040*/                   FFMA R5, R0, R2, R5 ;
        /*0050*/              @!P1 BRA `(.L_x_8) ;
        /*0060*/                   EXIT ;
.L_x_7:
        /*0070*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R3+UR9], R0 ;
        /*0080*/              @!P0 BRA `(.L_x_7) ;
        /*0090*/                   BRA `(.L_x_9) ;
"""

AMDGCN = """\
	.type	k,@function
k:                                      ; @k
; %bb.0:
	s_load_dwordx2 s[2:3], s[0:1], 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
.LBB0_1:                                ; =>This Inner Loop Header: Depth=1
	buffer_load_dwordx4 v4, s[0:3], s5 offen lds
	v_add_f32_dpp v1, v2, v3 row_shr:8 row_mask:0xf bank_mask:0xf
	v_mul_f32_e32 v0, 0x3fb8aa3b, v0
	v_dual_fmac_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5
	s_cbranch_scc0 .LBB0_1
; %bb.2:
	global_store_dwordx4 v[4:5], v[0:3], off nt
	s_endpgm
.Lfunc_end0:
	.size	k, .Lfunc_end0-k
	.section	.rodata
"""


@pytest.mark.parametrize("text", [NVDISASM, CUOBJDUMP], ids=["nvdisasm", "cuobjdump"])
def test_both_nvidia_listings_read_alike(text):
    (function,) = parse_sass(text)
    assert function.name == "scale"
    assert [i.opcode for i in function.instructions][3:6] == [
        "IMAD.WIDE",
        "LDG.E.128.CONSTANT",
        "STG.E.128",
    ]
    load = function.instructions[4]
    assert (load.address, load.mnemonic, load.modifiers) == (0x40, "LDG", ("E", "128", "CONSTANT"))
    assert load.operands == ("R4", "desc[UR6][R6.64]")
    assert function.instructions[2].predicate == "P0"
    assert function.instructions[6].predicate == "!P0"


@pytest.mark.parametrize("text", [NVDISASM, CUOBJDUMP], ids=["nvdisasm", "cuobjdump"])
def test_the_trap_loop_behind_exit_is_no_loop(text):
    (function,) = parse_sass(text)
    assert function.main_loop == (3, 4, 5, 6)


def test_a_barrier_poll_is_not_the_main_loop():
    (function,) = parse_sass(TRY_WAIT)
    assert function.main_loop is not None
    inside = {function.instructions[i].mnemonic for i in function.main_loop}
    assert {"LDS", "FFMA", "SYNCS"} <= inside


def test_histogram_orders_by_count_then_name():
    (function,) = parse_sass(NVDISASM)
    assert list(opcode_histogram(function).items())[:3] == [("BRA", 2), ("EXIT", 2), ("IMAD", 1)]
    loop = opcode_histogram(function, "main_loop", modifiers=True)
    assert loop == {"BRA": 1, "IMAD.WIDE": 1, "LDG.E.128.CONSTANT": 1, "STG.E.128": 1}


def test_amd_keywords_become_modifiers():
    (function,) = parse_amdgcn(AMDGCN)
    opcodes = [i.opcode for i in function.instructions]
    assert "buffer_load_dwordx4.offen.lds" in opcodes
    assert "global_store_dwordx4.nt" in opcodes
    assert "v_add_f32.dpp.row_shr:8.row_mask:0xf.bank_mask:0xf" in opcodes
    assert opcodes[1] == "s_waitcnt"
    assert function.instructions[1].operands == ("vmcnt(0)", "lgkmcnt(0)")


def test_amd_dual_issue_is_two_instructions_and_loops_are_found():
    (function,) = parse_amdgcn(AMDGCN)
    assert function.main_loop == (2, 3, 4, 5, 6, 7)
    multiply = function.instructions[4]
    assert (multiply.mnemonic, multiply.operands[1]) == ("v_mul_f32", "0x3fb8aa3b")


def test_text_without_code_has_no_functions():
    assert parse_sass("") == ()
    assert parse_amdgcn(".text\n") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R4, desc[UR6][R6.64]", ("R4", "desc[UR6][R6.64]")),
        ("", ()),
        ("v[0:3], v[4:5], off nt", ("v[0:3]", "v[4:5]", "off nt")),
        ("UP0, `(.L_x_3)", ("UP0", "`(.L_x_3)")),
    ],
)
def test_operands_split_outside_brackets(text, expected):
    assert split_operands(text) == expected


def test_inner_loops_win_over_outer_ones():
    steps = [Step(), Step(), Step(targets=(1,)), Step(targets=(0,)), Step(falls_through=False)]
    assert len(natural_loops(steps)) == 2
    found = main_loop(steps)
    assert found is not None
    assert found.body == (1, 2)
    assert basic_blocks([]) == ()
    assert main_loop([]) is None


def test_a_jump_into_a_loop_from_outside_is_no_back_edge():
    steps = [
        Step(targets=(3,)),
        Step(),
        Step(falls_through=False),
        Step(),
        Step(targets=(1,), falls_through=False),
    ]
    assert natural_loops(steps) == ()


def test_a_failing_disassembler_is_a_value(tmp_path):
    tool = shutil.which("false")
    assert tool is not None
    found = disassemble_cubin(Path(tool), tmp_path / "no.cubin")
    assert isinstance(found, DisassemblerFailure)
    assert found.returncode != 0


SHIPPED = run_probes.load_signatures()
SAMPLE = {"sm": 12, "gfx": 6}
"""Pairs of method and target per week; each compiles two probes or more."""


def test_every_signature_reads_and_its_probes_exist():
    named: set[str] = set()
    for signature in SHIPPED.values():
        if signature.probes is None:
            assert run_probes.observable_archs(signature) == []
            continue
        probes = signature.probes
        for side in (probes.positive, probes.negative, probes.unclear):
            named.update((side,) if isinstance(side, str) else side)
        for arch in run_probes.observable_archs(signature):
            expected = {want for _, want in run_probes.probes_for(signature, arch)}
            assert expected == {"confirmed", "refuted"}, f"{signature.method} on {arch}"
    assert named == {p.name for p in run_probes.PROBES.iterdir() if p.is_file()}


def _wanted() -> list[tuple[str, str]]:
    """All pairs under KBS_PROBES=all, else what changed and a sample of the week."""
    pairs = {
        f"{method} {arch}": (method, arch)
        for method, signature in SHIPPED.items()
        for arch in run_probes.observable_archs(signature)
    }
    if os.environ.get("KBS_PROBES") == "all":
        return list(pairs.values())
    chosen: set[str] = set()
    for family, count in SAMPLE.items():
        names = [name for name, (_, arch) in pairs.items() if arch.startswith(family)]
        chosen |= of_the_week(names, count)
    changed = changed_files()
    for name, (method, arch) in pairs.items():
        files = {path for path, _ in run_probes.probes_for(SHIPPED[method], arch)}
        if changed & {*files, run_probes.SIGNATURES / f"{method}.yaml"}:
            chosen.add(name)
    return [pair for name, pair in pairs.items() if name in chosen]


@pytest.mark.compilers
@pytest.mark.slow
@pytest.mark.parametrize(("method", "arch"), _wanted())
def test_probes_confirm_and_refute(method, arch):
    if arch.startswith("gfx"):
        pytest.importorskip("triton")
    elif shutil.which("nvcc") is None or find_nvdisasm() is None:
        pytest.skip("nvcc and nvdisasm are needed to compile and read the probes")
    for result in run_probes.run_signature(SHIPPED[method], [arch], default_cache()):
        assert result.as_expected, f"{result.probe} on {arch}: {result.verdict.reason}"
