# make figures   simulate, judge and draw; N=8 sets the cores, OVERRIDES="experiment=smoke" the experiment
# make test      run the tests            make clean   remove files that no experiment needs
# make lint      run ruff and mypy        make lock    renew requirements.lock
# make bench     time the kernels         make audit   look up known vulnerabilities
.PHONY: figures test lint bench clean lock audit env rebuild

# Without N there is a job for each core that this process may use, as far as memory allows.
OVERRIDES ?=
export OVERRIDES
export PIP_DISABLE_PIP_VERSION_CHECK := 1

PY := .venv/bin/python
# The stamp contains the folder, because a moved .venv still points to the old place.
READY = .venv/.ready-$(shell { pwd; cat requirements.lock pyproject.toml; } | cksum | cut -d' ' -f1)

# The first Python in the range of pyproject.toml that can make a venv.
CAN_VENV := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c '$(CAN_VENV)' 2>/dev/null && { echo $$p; break; }; done)

figures: env
	@$(PY) -m snakemake --cores '$(or $(N),$(shell $(PY) -m confee.workflow.machine))' $(if $(strip $(OVERRIDES)),--config overrides="$$($(QUOTED))")

# Snakemake strips outer quotes and reads the rest as YAML; spaces and quotes keep the text as it is.
QUOTED := printf " '%s' " "$$(printf %s "$$OVERRIDES" | sed "s/'/''/g")"

test: env
	@$(PY) -m pytest -n auto --dist loadfile --no-loadscope-reorder

lint: env
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

bench: env
	@$(PY) benchmarks/kernels.py

clean: env
	@$(PY) -m confee clean

env:
	@[ -e $(READY) ] && $(PY) -c '' 2>/dev/null || $(MAKE) --no-print-directory rebuild

# The stamp is removed first and written last. A .venv without a stamp was interrupted and is made
# again, because pip may take a half-copied package for an installed one.
rebuild:
	@[ -n '$(PYTHON)' ] || { echo 'confee: no Python 3.11 to 3.13 with venv; install one, for' \
		'example with: apt install python3-venv' >&2; exit 1; }
	@if ls .venv/.ready-* >/dev/null 2>&1 && $(PY) -c '' 2>/dev/null; then rm .venv/.ready-*; \
	else rm -rf .venv/.ready-* && rm -rf .venv && '$(PYTHON)' -m venv .venv; fi
	@echo 'confee: installing the locked packages into .venv (a few minutes the first time)'
	@$(PY) -m pip install -q --require-hashes -r requirements.lock
	@$(PY) -m pip install -q --no-deps --no-build-isolation -e .
	@touch $(READY)

# uv is needed only here, so it is not installed in .venv.
lock:
	@d=$$(mktemp -d) && trap 'rm -rf $$d' EXIT && '$(PYTHON)' -m venv $$d && \
	$$d/bin/pip install -q uv && \
	$$d/bin/uv pip compile -q pyproject.toml --extra dev --universal --fork-strategy fewest \
		--generate-hashes --custom-compile-command 'make lock' -o requirements.lock

# Ask a vulnerability service about each locked package. With --strict a package that could not be
# looked up is a failure, too; else "No known vulnerabilities found" may mean that none was.
audit:
	@d=$$(mktemp -d) && trap 'rm -rf $$d' EXIT && '$(PYTHON)' -m venv $$d && \
	$$d/bin/pip install -q pip-audit && \
	$$d/bin/pip-audit -r requirements.lock --require-hashes --disable-pip --strict \
		--progress-spinner off || { echo 'audit: no clean bill. "Dependency not found" means that' \
		'no vulnerability service was reached, not that the package is bad' >&2; exit 1; }
