# Every target makes the virtual environment that it needs. PYTHON=python3.12 picks another interpreter.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
HOME_  := .kbs-home
REPORT := tests/data/reports/h100_triton_torch.ncu-rep
# With an NVIDIA GPU, torch is free to be a CUDA build; without one it is held to a CPU build.
CONSTRAINTS := $(shell command -v nvidia-smi >/dev/null 2>&1 || echo -c constraints/cpu.txt)

.PHONY: demo test coverage sweep lint bench probes docs clean

$(VENV)/.installed: pyproject.toml constraints/cpu.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=24"
	$(BIN)/python -m pip install --quiet $(CONSTRAINTS) --editable ".[dev]"
	touch $@

demo: $(VENV)/.installed  ## index the wiki and turn a real H100 profile into ranked methods
	$(BIN)/kbs --home $(HOME_) ingest
	$(BIN)/kbs --home $(HOME_) recommend $(REPORT)

test: $(VENV)/.installed  ## all tests that need no GPU, but for the long sweeps
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not gpu and not sweep"

coverage: $(VENV)/.installed  ## the same tests with branch coverage, which takes longer
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not gpu and not sweep" --cov --cov-report=term

sweep: $(VENV)/.installed  ## the long tests: every rewrite compiled, a hundred kills, dry GPU sessions
	$(BIN)/python -m pytest -n auto -m "sweep and not gpu"

lint: $(VENV)/.installed  ## style, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.installed  ## timings of the commands, as a table and JSON
	$(BIN)/python benchmarks/commands.py

probes: $(VENV)/.installed  ## compile all probes and all code on pages, on all targets, and record the outcomes
	$(BIN)/python -m tests.probes.record
	$(BIN)/python -m tools.generate_docs

docs: $(VENV)/.installed  ## regenerate the generated parts of docs/ and of gpu-wiki/README.md
	$(BIN)/python -m tools.generate_docs

clean:
	rm -rf $(VENV) $(HOME_) .pytest_cache .mypy_cache .ruff_cache .coverage*
