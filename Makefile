# `make` lists the targets. Each environment is made once and again when pyproject.toml changes.

PYTHON ?= python3
PYTEST_ARGS ?=
# Files of tests run side by side, on all cores; SIDE_BY_SIDE= runs one after the other.
SIDE_BY_SIDE ?= -n auto --dist loadfile
# What a wheel may lack are modules, data and commands; what is calculated is the same code.
WHEEL_TESTS ?= $(patsubst %,tests/%,browser cli collect saved) \
	$(filter-out tests/test_real_% tests/test_verified_% tests/test_known_answers.py,$(wildcard tests/test_*.py))
# What real jobs of the tests run: a build without CUDA, which is a tenth as large.
TORCH ?= torch==2.13.0+cpu
BENCH_ARGS ?=
BENCH_SIZES ?= 200 1000
# The lowest versions have wheels for Python 3.10 and 3.11 only; the first one at hand is taken.
LOWEST_PYTHON ?= $(shell for p in python3.10 python3.11 $(PYTHON); do \
	$$p -c 'import sys; sys.exit(sys.version_info >= (3, 12))' >/dev/null 2>&1 && echo $$p && break; done)

PIP := bin/python -m pip install --quiet --disable-pip-version-check
DECLARED := pyproject.toml commscope/_version.py
# A strict editable install links the files it finds: it is made again when files come or go.
FOLDERS := $(shell find commscope parsers dashboards sample_traces -type d -not -name __pycache__ 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help demo test lint format sizes layers types test-lowest test-wheel bench bench-job docs pyz clean
.DELETE_ON_ERROR:

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile \
		| while IFS='|' read -r name text; do printf '%-12s %s\n' "$$name" "$$text"; done

demo: .venv/.installed ## install into .venv and analyse a bundled trace
	.venv/bin/commscope analyze sample_traces/ddp_straggler

test: .venv/.test .venv/.integrations ## run the test suite (PYTEST_ARGS="-k name")
	.venv/bin/pytest $(SIDE_BY_SIDE) $(PYTEST_ARGS)

lint: .venv-dev/.installed sizes layers ## check style, format, sizes and layers
	.venv-dev/bin/ruff check .
	.venv-dev/bin/ruff format --check .

format: .venv-dev/.installed ## format the code and fix what can be fixed
	.venv-dev/bin/ruff check --fix .
	.venv-dev/bin/ruff format .

sizes: ## check the length of functions and modules
	$(PYTHON) tools/check_size.py

# Both run inside .venv-dev: in the checkout, the folder commscope/ would hide the installed
# package, which alone holds the sub-packages that lie in other folders.
layers: .venv-dev/.installed ## check that no layer imports one above it
	cd .venv-dev && bin/lint-imports --no-logo --no-cache ../pyproject.toml

types: .venv-dev/.installed ## check types, strictly
	cd .venv-dev && bin/mypy --config-file ../pyproject.toml --cache-dir ../.mypy_cache
	cd .venv-dev && bin/mypy --config-file ../pyproject.toml --cache-dir ../.mypy_cache \
		../tools/*.py ../benchmarks/*.py

test-lowest: .venv-lowest/.installed ## run the suite with the lowest declared versions
	.venv-lowest/bin/pytest $(SIDE_BY_SIDE) -p no:cacheprovider -m "not long" $(PYTEST_ARGS)

test-wheel: .venv-dev/.installed ## run the suite against the built wheel, outside the checkout
	@rm -rf dist .venv-wheel && mkdir dist
	@.venv-dev/bin/python -m build --outdir dist . >dist/build.log || { cat dist/build.log; exit 1; }
	@$(PYTHON) -m venv .venv-wheel
	.venv-wheel/$(PIP) "$$(echo dist/*.whl)[test]"
	@outside=$$(mktemp -d) && trap 'rm -rf "$$outside"' EXIT \
		&& mkdir $$outside/suite && cp -r tests pyproject.toml $$outside/suite \
		&& ln -s $(CURDIR)/../shared $$outside/shared \
		&& cd $$outside/suite && $(CURDIR)/.venv-wheel/bin/pytest $(SIDE_BY_SIDE) -p no:cacheprovider -m "not long" $(WHEEL_TESTS) $(PYTEST_ARGS)

bench: .venv/.installed .venv-hta/.installed $(BENCH_SIZES:%=benchmarks/data/trace_%mb.json) ## measure against other tools (BENCH_SIZES="200", BENCH_ARGS="--only hta")
	$(PYTHON) benchmarks/compare.py $(BENCH_ARGS) $(filter %.json,$^)

benchmarks/data/trace_%mb.json: benchmarks/make_traces.py
	$(PYTHON) benchmarks/make_traces.py --megabytes $* --output $@

bench-job: .venv/.installed benchmarks/data/job ## measure a job of eight ranks against json.load
	$(PYTHON) benchmarks/compare.py --only commscope --only json.load $(BENCH_ARGS) benchmarks/data/job

benchmarks/data/job: benchmarks/make_traces.py
	$(PYTHON) benchmarks/make_traces.py --megabytes 200 --ranks 8 --output $@

docs: .venv/.installed ## write what the pages show of the program anew
	.venv/bin/python tools/gen_docs.py

pyz: ## write dist/commscope-collect.pyz, which runs where nothing can be installed
	$(PYTHON) tools/make_pyz.py

clean: ## remove environments, builds and caches
	rm -rf .venv .venv-dev .venv-lowest .venv-wheel .venv-hta build dist *.egg-info
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

# Environments. A stamp is written last, so that one that could not be finished is made again.

define create
	@echo "making $(@D)"
	@$(1) -m venv $(@D) || { echo "$(1) cannot make a virtual environment: install python3-venv" >&2; exit 1; }
endef

.venv/.installed: $(DECLARED)
	$(call create,$(PYTHON))
	.venv/$(PIP) --editable .
	@touch $@

.venv/.test: .venv/.installed
	.venv/$(PIP) --editable '.[test]'
	@touch $@

# Not to be had everywhere: without it the tests that start jobs of PyTorch say so.
.venv/.integrations: .venv/.test
	@.venv/$(PIP) '$(TORCH)' --editable '.[integrations]' >.venv/integrations.log 2>&1 && touch $@ \
		|| echo "$(TORCH) cannot be installed (.venv/integrations.log): its tests are skipped" >&2

.venv-dev/.installed: $(DECLARED) $(FOLDERS)
	$(call create,$(PYTHON))
	.venv-dev/$(PIP) --config-settings editable_mode=strict --editable '.[dev,test]'
	@touch $@

.venv-lowest/.installed: $(DECLARED) tools/lowest.py .venv/.installed
	@[ -n "$(LOWEST_PYTHON)" ] || { echo "needs Python 3.10 or 3.11: set LOWEST_PYTHON" >&2; exit 1; }
	$(call create,$(LOWEST_PYTHON))
	.venv/bin/python tools/lowest.py test <pyproject.toml >.venv-lowest/constraints.txt
	.venv-lowest/$(PIP) --only-binary :all: --constraint .venv-lowest/constraints.txt --editable '.[test]'
	@touch $@

# Its latest release still needs pandas 2. Without it the comparison says that it was left out.
.venv-hta/.installed:
	$(call create,$(PYTHON))
	@.venv-hta/$(PIP) HolisticTraceAnalysis 'pandas<3' || echo "HolisticTraceAnalysis cannot be installed here" >&2
	@touch $@
