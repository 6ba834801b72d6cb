#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests of a built sanitizer preset: tools/run_sanitized.sh asan, or tsan FOLDER...
# PART=2/4 runs the second of four parts of the conformance tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export UBSAN_OPTIONS=print_stacktrace=1
jobs=${JOBS:-$(nproc)}
tests=${TESTS_AT_ONCE:-$jobs}

case ${1:-} in
  asan)
    ctest --test-dir build/asan --output-on-failure -j "$tests"
    # Python itself leaks by design. The module can throw only if libstdc++ is loaded as early as
    # libasan.
    export ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=$PWD/build/asan/python
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)" \
      .venv/bin/python -m pytest -n "$jobs" --part "${PART:-1/1}" tests/conformance
    ;;
  tsan)
    # ThreadSanitizer does not start if addresses are randomised too widely.
    setarch "$(uname -m)" -R ctest --test-dir build/tsan --output-on-failure -j "$tests" \
      -L "stoker_($(IFS='|'; echo "${*:2}"))_test"
    ;;
  *)
    echo "usage: $0 asan | tsan FOLDER..." >&2
    exit 2
    ;;
esac
