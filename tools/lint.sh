#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Every static check, cheap ones first; all of them run, and one failure fails the whole. Needs a
# built build/release.
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

check includes tools/check_includes.py
check licences spdx_lines
check columns tools/check_columns.py
check spelling codespell
check 'C++ format' cpp_format
check ruff ruff check -q .
check 'Python format' ruff format -q --check .
check types env MYPYPATH="$PWD/build/release/python" mypy -p stoker
check clang-tidy tools/tidy.py build/release "${JOBS:-$(nproc)}"
[ ${#failed[@]} -eq 0 ] || { printf 'lint: failed: %s\n' "${failed[@]}"; exit 1; }
echo 'lint: nothing found'
