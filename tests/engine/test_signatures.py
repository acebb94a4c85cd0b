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
    wanted = signature(none=[{"opcode": "BAR.SYNC", "min": 2}])
    one = function(op("BAR.SYNC"))
    two = function(op("BAR.SYNC"), op("BAR.SYNC"))
    assert verdict(wanted, "sm_90a", one).outcome == "confirmed"
    assert verdict(wanted, "sm_90a", two).outcome == "refuted"


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
    ],
)
def test_senseless_claims_cannot_be_built(claim):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"arch": ["sm_90a"], **claim}, Claim)
