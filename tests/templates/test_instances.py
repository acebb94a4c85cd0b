"""Every Triton template, written out under foreign names, computes its operation."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import torch

from kbs_backends.templates import OPS, Match, arguments_of, choose_templates, instantiate
from kbs_ingest.wiki.examples import load_templates
from tests.conftest import WIKI

RUN = """
import importlib.util, json, sys, traceback, torch
for path in json.loads(sys.argv[1]):
    try:
        spec = importlib.util.spec_from_file_location("kernel", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        inputs = torch.load(path + ".pt")
        module.run_kernel(**inputs)
        made = module.setup()
        shapes = {name: tuple(value.shape) for name, value in made["inputs"].items()}
        torch.save((inputs, made["outputs"], shapes), path + ".got")
    except Exception:
        with open(path + ".err", "w") as file:
            traceback.print_exc(file=file)
"""
DIMS = {"M": 33, "N": 70, "K": 41, "B": 3, "C": 5, "H": 6, "W": 7, "D": 24, "V": 77, "BINS": 10}
TEMPLATES = load_templates([WIKI])
TRITON = [template for template in TEMPLATES if template.language == "triton"]


def shape_of(dims):
    return tuple(DIMS[dim.lstrip("*")] for dim in dims)


def task_of(template, options):
    """Arguments of a task under foreign names, and the match that the template serves."""
    op = OPS[template.op]
    generator = torch.Generator().manual_seed(7)
    names, inputs, dims = {}, {}, {}
    for role, dims_of in {**op.inputs, **op.outputs}.items():
        names[role] = f"user_{role}"
        dims |= {dim.lstrip("*"): DIMS[dim.lstrip("*")] for dim in dims_of}
        if role in op.integer:
            top = DIMS["BINS"] if template.op == "histogram" else DIMS["V"]
            value = torch.randint(0, top, shape_of(dims_of), generator=generator)
        elif template.op == "histogram":
            value = torch.zeros(shape_of(dims_of), dtype=torch.int64)
        else:
            value = torch.randn(shape_of(dims_of), generator=generator)
        inputs[names[role]] = value
    match = Match(op=template.op, names=names, options=options, dims=dims)
    return inputs, match


def variants():
    """Each template with the first and the last value of each of its options."""
    for template in TRITON:
        op = OPS[template.op]
        first = {name: values[0] for name, values in op.options.items()}
        first = {name: DIMS.get(value, value) if isinstance(value, str) else value
                 for name, value in first.items()}  # fmt: skip
        yield template, first
        last = {name: values[-1] for name, values in template.options.items()}
        if last:
            yield template, {**first, **last}


CASES = {
    f"{template.id}-{number}": (template, options)
    for number, (template, options) in enumerate(variants())
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """All instances run in one interpreted process."""
    folder = tmp_path_factory.mktemp("instances")
    paths = []
    for name, (template, options) in CASES.items():
        inputs, match = task_of(template, options)
        outputs = tuple(match.names[role] for role in OPS[template.op].outputs)
        path = folder / f"{name}.py"
        path.write_text(instantiate(template, match, arguments_of(inputs), outputs))
        torch.save(inputs, f"{path}.pt")
        paths.append(str(path))
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(paths)],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", CASES)
def test_the_instance_computes_its_operation(runs, name):
    template, options = CASES[name]
    error = runs / f"{name}.py.err"
    assert not error.exists(), error.read_text()
    got, outputs, shapes = torch.load(runs / f"{name}.py.got")
    inputs, match = task_of(template, options)
    op = OPS[template.op]
    given = {role: inputs[match.names[role]] for role in op.inputs}
    wide = {role: t.double() if t.is_floating_point() else t for role, t in given.items()}
    for role, expected in op.compute(wide, options).items():
        actual = got[match.names[role]]
        torch.testing.assert_close(actual.to(expected.dtype), expected, atol=2e-4, rtol=2e-4)
    assert outputs == [match.names[role] for role in op.outputs]
    assert shapes == {key: tuple(value.shape) for key, value in inputs.items()}
    for key, value in inputs.items():
        if key not in outputs:
            assert torch.equal(got[key], value), f"{key} was changed"


def test_the_wiki_has_a_template_for_every_operation():
    assert {template.op for template in TRITON} >= set(OPS) - {"cross_entropy_rows"}


def test_types_and_bounds_are_refused_with_their_reason():
    template = next(one for one in TRITON if one.id == "matmul_tiled_triton")
    match = Match(
        op="matmul", names={"a": "p", "b": "q", "out": "r"},
        options={"transpose_b": False, "activation": "none"}, dims={"M": 8, "N": 8, "K": 8},
    )  # fmt: skip
    dtypes = {"p": "float16", "q": "float32", "r": "float16"}
    choice = choose_templates([template], [match], dtypes)[0]
    assert "one type" in choice.refused[0]
    dtypes = {"p": "float64", "q": "float64", "r": "float64"}
    assert "p is fp64" in choose_templates([template], [match], dtypes)[0].refused[0]


def test_a_bias_needs_a_template_with_one():
    template = next(one for one in TRITON if one.id == "batched_matmul_triton")
    match = Match(
        op="batched_matmul", names={"a": "p", "b": "q", "out": "r", "bias": "s"},
        options={"transpose_b": False}, dims={"B": 99999, "M": 8, "N": 8, "K": 8},
    )  # fmt: skip
    refused = choose_templates([template], [match], dict.fromkeys("pqrs", "float32"))[0].refused
    assert any("it has no bias" in reason for reason in refused)
    assert any("B is 99999" in reason for reason in refused)
