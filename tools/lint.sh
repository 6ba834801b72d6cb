#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# The static checks: tools/lint.sh [quick|slow]. `quick` takes seconds and needs no build; `slow`
# runs the other checks, which need a built build/release. A failed check does not stop the others.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/.venv/bin:$PATH
failed=()

check() { # name command...
  local name=$1
  shift
  echo "lint: $name"
  "$@" || failed+=("$name")
}
files() { git ls-files -z --cached --others --exclude-standard -- "$@"; } # pattern...
cpp_format() { files '*.h' '*.cc' '*.cu' '*.cuh' | xargs -0r clang-format --dry-run -Werror; }
spdx_lines() {
  local bare
  bare=$(files '*.h' '*.cc' '*.cu' '*.cuh' '*.py' '*.sh' '*.cmake' |
    xargs -0r grep -L 'SPDX-License-Identifier: Apache-2.0')
  [ -z "$bare" ] || { printf 'no SPDX lines: %s\n' $bare; return 1; }
}
unchecked_mutexes() {
  local bare
  bare=$(files '*.h' '*.cc' '*.cu' '*.cuh' ':!src/base/mutex.h' ':!src/base/mutex_test.cc' |
    xargs -0r grep -nE 'std::(\w*mutex|\w+_lock|lock_guard|condition_variable)')
  [ -n "$bare" ] || return 0
  printf '%s\nuse Mutex, MutexLock and ConditionVariable of src/base/mutex.h; ' "$bare"
  echo 'Clang checks no others'
  return 1
}

quick() {
  check includes tools/check_includes.py
  check 'Python imports' tools/check_python_imports.py
  check map tools/check_map.py
  check 'names of operators' tools/check_operators.py
  check licences spdx_lines
  check mutexes unchecked_mutexes
  check 'numbers made by hand' tools/check_bytes.py
  check columns tools/check_columns.py
  check ruff ruff check -q .
  check 'Python format' ruff format -q --check .
  check 'C++ format' cpp_format
  check spelling codespell
}

slow() {
  check types env MYPYPATH="$PWD/build/release/python" mypy -p stoker
  check 'CMake for clang-tidy' cmake --preset release -B build/tidy -DSTOKER_TESTS=ON \
    -DSTOKER_TOGETHER=OFF --log-level=ERROR
  check clang-tidy tools/tidy.py build/tidy "${JOBS:-$(nproc)}"
}

case ${1:-} in
  '') quick; slow ;;
  quick | slow) "$1" ;;
  *) echo "usage: $0 [quick|slow]" >&2; exit 2 ;;
esac
[ ${#failed[@]} -eq 0 ] || { printf 'lint: failed: %s\n' "${failed[@]}"; exit 1; }
echo 'lint: nothing found'
