"""Verdicts on parsed opcodes: first where they must not confirm."""

from __future__ import annotations

import msgspec
import pytest

from kbs_engine.signatures import (
    Claim,
    FunctionListing,
    Instruction,
    OpcodePattern,
    Signature,
    verdict,
)


def op(text, *operands, at=0):
    mnemonic, *modifiers = text.split(".")
    return Instruction(address=at, mnemonic=mnemonic, modifiers=tuple(modifiers), operands=operands)


def function(*instructions, name="kernel", loop=None):
    return FunctionListing(name=name, instructions=instructions, main_loop=loop)


def signature(**claim):
    claims = [{"arch": ["sm_90a"], **claim}]
    return msgspec.convert({"method": "m", "claims": claims}, Signature)


@pytest.mark.parametrize(
    ("pattern", "opcode", "expected"),
    [
        ("LDG.128", "LDG.E.128.CONSTANT", True),
        ("LDG.128", "LDG.E.64", False),
        ("LDG.128", "LDS.128", False),
        ("LDG", "LDGSTS.E.128", False),
        ("LDG.!CONSTANT", "LDG.E.CONSTANT", False),
        ("LDG.!CONSTANT", "LDG.E", True),
        ("UTC*MMA", "UTCHMMA.2CTA", True),
        ("UTC*MMA", "HMMA.16816.F32", False),
        ("UBLKCP.S.G", "UBLKCP.S.G", True),
        ("UBLKCP.S.G", "UBLKCP.G.S", False),
        ("REDUX", "RED.E.ADD", False),
        ("RED", "REDUX.SUM", False),
        ("LDG.*256", "LDG.E.ENL2.256", True),
        ("v_mfma_*", "v_mfma_f32_32x32x8_f16", True),
    ],
)
def test_patterns_match_parsed_opcodes(pattern, opcode, expected):
    assert OpcodePattern(opcode=pattern).matches(op(opcode)) is expected


@pytest.mark.parametrize(
    ("rule", "operands", "expected"),
    [
        ("not_rz", ("R5", "-RZ", "RZ", "0", "5.96e-08"), False),
        ("not_rz", ("R5", "R2", "R3", "RZ"), True),
        ("not_rz", ("R5", "-R2.reuse", "RZ"), True),
        ("not_rz", ("R5", "|RZ|", "PT"), False),
        ("packed", ("R5", "R2.H0_H0", "R3.H0_H0", "RZ.H0_H0"), False),
        ("packed", ("R5", "R2", "R3.H0_H0", "R4"), True),
        ("nonzero", ("SB0", "0x0"), False),
        ("nonzero", ("SB0", "0x2"), True),
        ("has 1.44269*", ("R1", "R1", "1.4426950216293334961"), True),
        ("has c?0x3?*", ("UR8", "c[0x3][UR4]"), True),
        ("has c?0x3?*", ("UR8", "c[0x0][0x210]"), False),
    ],
)
def test_operand_rules(rule, operands, expected):
    pattern = OpcodePattern(opcode="X*", operands=rule)
    assert pattern.matches(op("XOP", *operands)) is expected


def test_a_name_proves_nothing():
    wanted = signature(all=[{"opcode": "LDGSTS"}])
    found = verdict(wanted, "sm_90a", function(op("LDG.E"), name="LDGSTS_cp_async"))
    assert found.outcome == "refuted"
    assert found.reason == "LDGSTS: 0 in the function, at least 1 asked"


def test_counts_are_the_evidence():
    wanted = signature(all=[{"opcode": "HMMA", "min": 2}], none=[{"opcode": "STL"}])
    found = verdict(wanted, "sm_90a", function(op("HMMA.16816.F32"), op("HMMA.16816.F32")))
    assert found.outcome == "confirmed"
    assert [(c.opcode, c.count, c.holds) for c in found.counts] == [
        ("HMMA", 2, True),
        ("STL", 0, True),
    ]


def test_none_allows_fewer_than_min():
    wanted = signature(all=[{"opcode": "STS"}], none=[{"opcode": "BAR.SYNC", "min": 2}])
    one = function(op("STS"), op("BAR.SYNC"))
    two = function(op("STS"), op("BAR.SYNC"), op("BAR.SYNC"))
    assert verdict(wanted, "sm_90a", one).outcome == "confirmed"
    assert verdict(wanted, "sm_90a", two).outcome == "refuted"


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (None, 0, "not_observable"),
        (None, 1, "refuted"),
        (0, 0, "not_observable"),
        (2, 0, "confirmed"),
        (2, 1, "confirmed"),
        (2, 2, "refuted"),
        (1, 2, "refuted"),
        (0, 1, "refuted"),
    ],
)
def test_absence_is_judged_against_the_version_before(before, now, expected):
    wanted = signature(absence=True, none=[{"opcode": "STL"}])
    earlier = None if before is None else function(*[op("STL")] * before)
    listing = function(op("EXIT"), *[op("STL")] * now)
    assert verdict(wanted, "sm_90a", listing, before=earlier).outcome == expected


def test_absence_names_the_counts_of_both_versions():
    wanted = signature(absence=True, none=[{"opcode": "STL"}, {"opcode": "LDL"}])
    found = verdict(wanted, "sm_90a", function(op("EXIT")), before=function(op("STL")))
    assert found.reason == "STL: 1 before, 0 now in the function"
    assert "compare with the version before" in verdict(wanted, "sm_90a", function()).reason


def test_absence_in_a_loop_asks_for_a_loop_before():
    wanted = signature(absence=True, scope="main_loop", none=[{"opcode": "BAR.SYNC"}])
    listing = function(op("FADD"), loop=(0,))
    found = verdict(wanted, "sm_90a", listing, before=function(op("BAR.SYNC")))
    assert found.outcome == "not_observable"


def test_what_other_code_leaves_too_is_not_observable():
    wanted = signature(
        any=[{"opcode": "LDG.128"}],
        none=[{"opcode": "FCHK"}],
        unclear=[{"opcode": "LDG.64"}],
        unclear_because="it may be a double",
    )
    found = verdict(wanted, "sm_90a", function(op("LDG.E.64")))
    assert (found.outcome, found.reason) == (
        "not_observable",
        "LDG.64: 1 in the function: it may be a double",
    )
    both = function(op("LDG.E.64"), op("LDG.E.128"))
    assert verdict(wanted, "sm_90a", both).outcome == "confirmed"
    assert verdict(wanted, "sm_90a", function(op("LDG.E.64"), op("FCHK"))).outcome == "refuted"
    assert verdict(wanted, "sm_90a", function(op("LDG.E"))).outcome == "refuted"


def test_after_follows_the_value_and_not_the_place():
    wanted = signature(
        any=[{"opcode": "MUFU.EX2", "after": {"opcode": "FMUL", "operands": "has *1.44269*"}}]
    )
    scaled = op("FMUL", "R0", "R2", "-1.4426950216293334961")
    guard = Instruction(address=0, mnemonic="FMUL", operands=("R0", "R0", "0.5"), predicate="!P0")
    fast = function(scaled, guard, op("MUFU.EX2", "R7", "R0"))
    other = function(scaled, op("MUFU.EX2", "R7", "R3"))
    lost = function(scaled, op("FADD", "R0", "R5", "R6"), op("MUFU.EX2", "R7", "R0"))
    assert verdict(wanted, "sm_90a", fast).outcome == "confirmed"
    assert verdict(wanted, "sm_90a", other).outcome == "refuted"
    assert verdict(wanted, "sm_90a", lost).outcome == "refuted"


def shuffles(*adds):
    """Two rounds, each a shuffle and what follows it."""
    first, second = adds
    return function(
        op("SHFL.BFLY", "PT", "R3", "R2", "0x10", "0x1f"),
        first,
        op("SHFL.BFLY", "PT", "R5", "R4", "0x8", "0x1f"),
        second,
    )


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (op("FADD", "R4", "R2", "R3"), op("FADD", "R6", "R4", "R5"), "confirmed"),
        (op("FADD", "R4", "R2.reuse", "R3"), op("FADD", "R6", "R5", "R4"), "confirmed"),
        (op("FADD", "R4", "-R2", "R3"), op("FADD", "R6", "-R4", "R5"), "refuted"),
        (op("FADD", "R4", "R9", "R3"), op("FADD", "R6", "R9", "R5"), "refuted"),
        (op("MOV", "R4", "R3"), op("FADD", "R6", "R4", "R5"), "refuted"),
        (op("FADD", "R4", "R2", "R3", "P0"), op("FADD", "R6", "R4", "R5", "P0"), "refuted"),
    ],
)
def test_a_reduction_adds_what_came_to_what_was_sent(first, second, expected):
    wanted = signature(any=[{"opcode": "FADD", "combines": "SHFL.BFLY", "min": 2}])
    assert verdict(wanted, "sm_90a", shuffles(first, second)).outcome == expected


def test_a_fused_dpp_add_is_a_round_of_its_own():
    wanted = signature(any=[{"opcode": "v_add_f32", "combines": "v_*.dpp", "min": 2}])
    add = op("v_add_f32.dpp.row_shr:8", "v1", "v1", "v1")
    stencil = op("v_add_f32.dpp.row_shr:1", "v2", "v1", "v0")
    assert verdict(wanted, "sm_90a", function(add, add)).outcome == "confirmed"
    assert verdict(wanted, "sm_90a", function(stencil, stencil)).outcome == "refuted"


@pytest.mark.parametrize(
    ("minus", "expected"), [("-R4", "confirmed"), ("-R9", "refuted"), ("R4", "refuted")]
)
def test_a_rest_is_a_value_minus_its_own_rounding(minus, expected):
    wanted = signature(all=[{"opcode": "HMMA.TF32", "operands": "rest"}])
    listing = function(
        op("LDG.E", "R2", "desc[UR4][R10.64]"),
        op("LOP3.LUT", "R4", "R2", "0xffffe000", "RZ", "0xc0", "!PT"),
        op("FADD", "R12", "R2", minus),
        op("HMMA.1688.F32.TF32", "R20", "R12", "R16", "R20"),
    )
    assert verdict(wanted, "sm_90a", listing).outcome == expected


def test_none_alone_must_say_absence():
    with pytest.raises(msgspec.ValidationError, match="absence: true"):
        signature(none=[{"opcode": "STL"}])


def test_any_needs_one_of_the_list():
    wanted = signature(any=[{"opcode": "LDG.128"}, {"opcode": "STG.128"}])
    assert verdict(wanted, "sm_90a", function(op("STG.E.128"))).outcome == "confirmed"
    found = verdict(wanted, "sm_90a", function(op("STG.E")))
    assert found.outcome == "refuted"
    assert found.reason == "none of LDG.128, STG.128 in the function"


def test_main_loop_claims_are_not_observable_without_a_loop():
    wanted = signature(scope="main_loop", all=[{"opcode": "LDGSTS"}])
    assert verdict(wanted, "sm_90a", function(op("LDGSTS.E"))).outcome == "not_observable"


def test_scopes_part_the_function():
    body = (op("LDGSTS.E"), op("HMMA.16816.F32"), op("EXIT"))
    inside = signature(scope="main_loop", all=[{"opcode": "HMMA"}], none=[{"opcode": "LDGSTS"}])
    outside = signature(scope="outside_loop", all=[{"opcode": "LDGSTS"}])
    listing = function(*body, loop=(1,))
    assert verdict(inside, "sm_90a", listing).outcome == "confirmed"
    assert verdict(outside, "sm_90a", listing).outcome == "confirmed"


def test_several_claims_for_one_target_must_all_hold():
    claims = [
        {"arch": ["sm_90a"], "all": [{"opcode": "ATOMS"}]},
        {"arch": ["sm_90a"], "all": [{"opcode": "REDG"}]},
    ]
    wanted = msgspec.convert({"method": "m", "claims": claims}, Signature)
    assert verdict(wanted, "sm_90a", function(op("ATOMS.ADD"))).outcome == "refuted"
    assert verdict(wanted, "sm_90a", function(op("ATOMS.ADD"), op("REDG.E"))).outcome == "confirmed"


def test_a_target_without_a_claim_is_not_observable():
    found = verdict(signature(all=[{"opcode": "HMMA"}]), "gfx942", function(op("v_mov_b32")))
    assert found.outcome == "not_observable"
    assert "gfx942" in found.reason


@pytest.mark.parametrize(
    "claim",
    [
        {},
        {"all": [{"opcode": "HMMA"}], "not_observable": "why"},
        {"all": [{"opcode": "*"}]},
        {"all": [{"opcode": "HMMA", "min": 0}]},
        {"all": [{"opcode": "HMMA", "operands": "whatever"}]},
        {"all": [{"opcode": "HMMA", "count": 3}]},
        {"all": [{"opcode": "HMMA"}], "none": [{"opcode": "STL"}], "absence": True},
        {"all": [{"opcode": "HMMA"}], "unclear": [{"opcode": "STL"}]},
        {"none": [{"opcode": "STL"}], "unclear": [{"opcode": "LDL"}], "unclear_because": "why"},
        {"all": [{"opcode": "FADD", "combines": "*"}]},
    ],
)
def test_senseless_claims_cannot_be_built(claim):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"arch": ["sm_90a"], **claim}, Claim)
