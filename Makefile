# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# The commands for people and CI. Everything stays inside the checkout, in .venv (tools/install.sh)
# and build/<preset>.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PY := .venv/bin/python
# CMake must find the Ninja of the environment and no other.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
JOBS ?= $(shell nproc)
# Many C++ tests spend their time waiting for threads, so more of them run at once than cores.
export TESTS_AT_ONCE := $(shell echo $$((2 * $(JOBS))))
FUZZ_SECONDS ?= 60
# The folders of src/ whose code runs in several threads.
THREADED := base memory batch io run nvjpeg
# The folders of src/ that know of CUDA. Of all others, that build has the same objects as `test`.
WITH_CUDA := device codec kernels op operators run
space := $(subst ,, )
# Of `make torture`. The seeds share the time: the fixed one so that a change can be compared with
# the one before, that of the day so that every day tries something else.
SECONDS ?= 120
SEED ?= 1 $(shell date +%Y%m%d)
PRESET ?= release

# $(call built,PRESET,TARGETS) configures, if that was never done, and builds. The lock keeps a
# second Ninja away, as two at once damage their record of what is up to date.
built = mkdir -p build; exec {lock}>build/$(1).lock; flock $$lock; \
	[ -f build/$(1)/build.ninja ] || cmake --preset $(1); \
	cmake --build --preset $(1) -j $(JOBS) --target $(2)
with_tests = grep -qs 'STOKER_TESTS:BOOL=ON' build/release/CMakeCache.txt || \
	cmake --preset release -DSTOKER_TESTS=ON

.PHONY: help build check test demo bench compare measure lint lint-quick lint-slow format asan
.PHONY: tsan cuda cuda-release gpu-check arm64 fuzz torture docs wheel wheel-check clean
help: ## this list
	@sed -nE 's/^([a-z0-9-]+):[^#]*## (.*)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	  awk -F'|' '{printf "%-21s%s\n", $$1, $$2}'

build: ## the library and the Python package, importable by .venv/bin/python
	@tools/install.sh build
	@$(call built,release,stoker_stage)

check: ## the tests of what changed since main (BASE=), in about three minutes
	@tools/install.sh build test
	@tools/install.sh $$($(PY) tools/check.py sets)
	@$(with_tests)
	@targets=$$($(PY) tools/check.py targets); [ -z "$$targets" ] || \
	  { $(call built,release,$$targets); }
	@JOBS=$(JOBS) $(PY) tools/check.py run

# PART=2/6 leaves out five sixths of the Python tests that are marked as one_of_many.
test: ## all C++ tests, then all Python tests (PYTEST_ARGS= PART=)
	@tools/install.sh build test frameworks mxnet
	@$(with_tests)
	@$(call built,release,all new_operators)
	@ctest --test-dir build/release --output-on-failure -j $(TESTS_AT_ONCE) \
	  --output-junit $(CURDIR)/build/ctest.xml
	@$(PY) -m pytest -n $(JOBS) --dist loadgroup --junitxml build/pytest.xml \
	  $(addprefix --rotate ,$(PART)) $(PYTEST_ARGS)

# STORE= is files, tfrecord, recordio, lmdb, caffe2, webdataset, coco, voc or csv.
demo: build ## a ResNet-50 input pipeline on made pictures or a folder (DATA=), from files or STORE=
	@$(PY) examples/resnet50_demo.py $(if $(DATA),"$(DATA)")

bench: build ## every operator, whole pipelines, and cliffs beside NumPy, OpenCV (ARGS= CLIFFS=)
	@$(PY) bench/run.py $(ARGS)
	@$(PY) bench/cliffs.py $(CLIFFS)

compare: build ## the same pipelines in other libraries, as ratios (ARGS=)
	@tools/install.sh compare
	@$(call built,release,bench_limit)
	@bench/compare/run.sh $(ARGS)

lint: lint-quick lint-slow ## all static checks: format, types, spelling, include directions

lint-quick: ## the checks that need no build and take seconds
	@tools/install.sh build lint
	@tools/lint.sh quick

lint-slow: ## the other checks: types and clang-tidy
	@tools/install.sh build lint
	@$(call built,release,stoker_stage)
	@tools/lint.sh slow

measure: ## sizes of functions, files, folders and classes, comments, equal lines
	@tools/install.sh build lint
	@$(PY) tools/measure.py

format: ## formats C++ and Python
	@tools/install.sh build lint
	@git ls-files -z --cached --others --exclude-standard '*.h' '*.cc' '*.cu' '*.cuh' | \
	  xargs -0r clang-format -i
	@ruff check -q --fix-only . && ruff format -q .

asan: ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer (PART=)
	@tools/install.sh build test
	@$(call built,asan,all)
	@PART=$(PART) tools/run_sanitized.sh asan

tsan: ## the tests of code with several threads under ThreadSanitizer
	@tools/install.sh build test
	@$(call built,tsan,$(THREADED:%=stoker_%_test))
	@tools/run_sanitized.sh tsan $(THREADED)

cuda: ## the C++ tests of the folders that have CUDA halves, in a build with them (needs nvcc)
	@tools/install.sh build test
	@$(call built,cuda,stoker_stage stoker_new_operators $(WITH_CUDA:%=stoker_%_test))
	@ctest --test-dir build/cuda --output-on-failure -j $(TESTS_AT_ONCE) \
	  -L "stoker_($(subst $(space),|,$(WITH_CUDA)))_test"

cuda-release: ## the Python package for several kinds of GPUs, in build/cuda-release (needs nvcc)
	@tools/install.sh build
	@$(call built,cuda-release,stoker_stage)

gpu-check: ## a folder OUT= that tests Stoker on a machine with a GPU but no compiler (PYTHON=)
	@tools/install.sh build test
	@grep -qs 'STOKER_BENCH:BOOL=ON' build/cuda/CMakeCache.txt || cmake --preset cuda -DSTOKER_BENCH=ON
	@$(call built,cuda,stoker_run_test bench_gpu_fused)
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) tools/gpu_check/make.sh $(OUT) $(PYTHON)

# QEMU cannot start itself, which death tests would need.
arm64: ## the C++ tests of a build for ARM64, in QEMU
	@tools/install.sh build test arm64
	@tools/arm64_root.sh
	@$(call built,arm64,all)
	@ctest --test-dir build/arm64 --output-on-failure -j $(JOBS) -E DeathTest

fuzz: ## every fuzz target for FUZZ_SECONDS= each, 60 by default (needs Clang)
	@tools/install.sh build fuzz
	@$(call built,fuzz,all)
	@tools/run_fuzz.sh $(FUZZ_SECONDS)

# A quarter of the time goes to what only Python can pass, unless PRESET or ARGS ask for another
# program or for certain trials.
from_python = $(if $(filter release,$(PRESET)),$(if $(ARGS),,yes))
torture: ## random graphs on random data, run in many ways (SECONDS= SEED= PRESET= ARGS=)
	@tools/install.sh build test
	@mkdir -p build; grep -qs 'STOKER_TESTS:BOOL=ON' build/$(PRESET)/CMakeCache.txt || \
	  cmake --preset $(PRESET) -DSTOKER_TESTS=ON
	@$(call built,$(PRESET),torture $(if $(from_python),stoker_stage))
	@$(if $(from_python),$(PY) tests/torture/python/hunt.py --seconds $$(($(SECONDS) / 4)) \
	  $(addprefix --seed ,$(SEED)))
	@UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1 \
	  $(if $(filter tsan,$(PRESET)),setarch $(shell uname -m) -R) \
	  build/$(PRESET)/torture --seconds $$(($(SECONDS) $(if $(from_python),* 3 / 4))) \
	  $(addprefix --seed ,$(SEED)) $(ARGS)

docs: build ## the pages of docs/ops, the tables of two guide pages, and the site, build/site
	@tools/install.sh docs
	@$(PY) tools/make_docs.py
	@$(PY) tools/make_moving_over.py
	@$(PY) tools/make_transforms_table.py
	@$(PY) tools/make_site.py

wheel: ## wheels with all libraries inside, in build/wheels (PYTHONS="3.10 3.13t arm64 ...")
	@tools/install.sh build wheel
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) tools/wheel/build.sh $(PYTHONS)

wheel-check: ## tries the wheels in bare Debian 12 and 13 (as root)
	@tools/install.sh build wheel-check
	@tools/wheel/check.sh

clean: ## removes build/ (and .venv, .venv-mxnet with ALL=1)
	@rm -rf build $(if $(ALL),.venv .venv-mxnet)
