# SPDX-License-Identifier: Apache-2.0
# Every target does its own set-up: Debian packages, .venv with pinned packages, build.
# Each step prints one line and keeps its output in build/logs; V=1 shows all output.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Each step uses all cores by itself.
.NOTPARALLEL:

PYTHON ?= $(shell command -v python3.11 || command -v python3)
JOBS ?= $(shell nproc)
VENV := .venv
FUZZ_SECONDS ?= 600
# What make bench does in an eighth of the memory it would take.
BOUNDED := partition_by sort join join_outer group_by unique
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export CTEST_PARALLEL_LEVEL := $(JOBS)
export V
STEP := .ci/step.sh
# The closing lines of a test run.
CTEST := $(STEP) --show '% tests passed|^Total Test time'
PYTEST := $(STEP) --show '^=+ .*(passed|failed|error).* in .*='

# The files in git and the new ones that git does not ignore, by extension.
sources = $$(git ls-files -co --exclude-standard --deduplicate $(1) | xargs -r ls -d 2>/dev/null)
CPP := '*.h' '*.cc' '*.cpp'

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: setup apt
apt:
	@.ci/setup-apt.sh $(PYTHON)
setup: apt ## Install the Debian packages and the pinned development set
	@.ci/setup-venv.sh $(PYTHON) $(VENV) --torch python/requirements-dev.txt
	@$(STEP) --quiet "simdjson" $(VENV)/bin/python .ci/fetch_simdjson.py build/third_party/simdjson-3.12.3

.PHONY: build
build: setup ## Leave an importable xshards in .venv
	@.ci/build-package.sh

.PHONY: demo
demo: build ## Read, transform, partition and aggregate 336,776 flights
	@$(VENV)/bin/python -m xshards.demo

.PHONY: cpp-dev cpp-asan cpp-tsan cpp-release
cpp-dev cpp-asan cpp-tsan cpp-release: cpp-%: setup
	@.ci/compile.sh $*

.PHONY: test test-cpp test-python test-tensorflow test-slow test-wheel
test: test-cpp test-python test-tensorflow ## C++ tests, Python tests, README and docstring examples
test-cpp: cpp-dev
	@$(CTEST) "C++ tests" ctest --preset dev
test-python: build
	@.ci/setup-venv.sh $(PYTHON) .venv-s3 --own-pins python/requirements-s3.txt
	@$(PYTEST) "Python tests" $(VENV)/bin/python -m pytest -n $(JOBS) --dist loadfile
# In processes of their own: the other tests never import TensorFlow.
test-tensorflow: build ## The Python tests that need TensorFlow
	@.ci/setup-venv.sh $(PYTHON) $(VENV) python/requirements-tensorflow-alone.txt python/requirements-tensorflow.txt
	@$(PYTEST) "TensorFlow tests" $(VENV)/bin/python -m pytest -n $(JOBS) --dist loadfile -m 'tensorflow and not slow'
test-slow: build ## The tests that need over 1 GB or 60 s
	@$(PYTEST) "slow Python tests" $(VENV)/bin/python -m pytest -m slow --timeout 3600

.PHONY: wheel
wheel: setup ## Leave a portable wheel in dist/
	@.ci/build-wheel.sh
test-wheel: wheel ## Try the wheel in a clean environment
	@.ci/test-wheel.sh $(PYTHON)

.PHONY: cpp-fuzz fuzz
cpp-fuzz: setup
	@.ci/setup-apt.sh $(PYTHON) clang
	@.ci/compile.sh fuzz xshards_fuzzers
fuzz: cpp-fuzz ## Look for crashes in the parsers, FUZZ_SECONDS (600) for each
	@$(STEP) --show executed_units "fuzzers, $(FUZZ_SECONDS) s each" tests/fuzz/run.sh $(FUZZ_SECONDS)

.PHONY: sanitize
sanitize: ## C++ tests under the address, undefined and thread sanitizers; a short fuzz
	@$(MAKE) cpp-asan
	@$(CTEST) "C++ tests, asan" ctest --preset asan
	@$(MAKE) cpp-tsan
	@$(CTEST) "C++ tests, tsan" ctest --preset tsan
	@$(MAKE) fuzz FUZZ_SECONDS=10

.PHONY: lint lint-all lint-style
lint-style: setup
	@$(STEP) "conflict markers" bash -c "! git grep -nE '^(<<<<<<<|>>>>>>>) '"
	@$(STEP) "clang-format" $(VENV)/bin/clang-format --dry-run -Werror $(call sources,$(CPP))
	@$(STEP) "ruff check" $(VENV)/bin/ruff check -q
	@$(STEP) "ruff format" $(VENV)/bin/ruff format --check -q
	@$(STEP) "mypy" $(VENV)/bin/mypy
	@$(STEP) "layers" $(VENV)/bin/python tests/check_layers.py
	@.ci/compile.sh dev build.ninja  # the compile commands for clang-tidy
lint: lint-style ## Format, types, layers; clang-tidy on what changed since the last release
	@$(STEP) --show ^clang-tidy: "clang-tidy" $(VENV)/bin/python .ci/clang_tidy.py --changed --jobs $(JOBS)
lint-all: lint-style ## The same with clang-tidy on every file, and each header on its own
	@.ci/compile.sh dev all_verify_interface_header_sets
	@$(STEP) --show ^clang-tidy: "clang-tidy" $(VENV)/bin/python .ci/clang_tidy.py --jobs $(JOBS)

.PHONY: format
format: setup ## Rewrite the sources in the project's style
	@$(VENV)/bin/clang-format -i $(call sources,$(CPP))
	@$(VENV)/bin/ruff check -q --fix --select I,F401
	@$(VENV)/bin/ruff format -q

.PHONY: bench bench-all
bench: build cpp-release ## Micro-benchmarks, then ours against pandas, pyarrow, Polars, DuckDB
	@.ci/setup-venv.sh $(PYTHON) .venv-peers python/requirements-peers.txt
	@.ci/setup-venv.sh $(PYTHON) .venv-training --torch python/requirements-peers-training.txt
	@benchmarks/micro.sh
	@$(VENV)/bin/python benchmarks/run.py --rows 4040000
	@$(VENV)/bin/python benchmarks/growth.py
	@for skew in 0 0.9; do for operation in $(BOUNDED); do \
	  $(VENV)/bin/python benchmarks/bounded_memory.py --gigabytes 1 --memory 128MB \
	    --limit 0.83 --operation $$operation --skew $$skew; done; done
	@$(VENV)/bin/python benchmarks/param_sync.py
	@$(VENV)/bin/python benchmarks/feeding.py
	@$(VENV)/bin/python benchmarks/tfrecord.py
	@$(VENV)/bin/python benchmarks/training.py
bench-all: build cpp-release ## bench, with Dask, Ray Data and PySpark too
	@.ci/setup-apt.sh $(PYTHON) java
	@.ci/setup-venv.sh $(PYTHON) .venv-peers python/requirements-peers.txt python/requirements-peers-all.txt
	@benchmarks/micro.sh
	@$(VENV)/bin/python benchmarks/run.py --all

.PHONY: clean
clean: ## Remove what was built; .venv stays
	rm -rf build dist
