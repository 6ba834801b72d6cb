#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes an environment per peer below build/compare (once), then races them: bench/compare/race.py
# says how. Arguments go to race.py (--help lists them): --parts starts,race,two,epochs, --peers
# dali,opencv, --rounds N, --data FOLDER.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ -x build/release/bench_limit ] || { echo "compare: 'make compare' builds what is needed first" >&2; exit 1; }

environment() { # peer
  local venv=build/compare/$1 key
  key=$(cat bench/compare/peers/"$1"*.txt | sha256sum)
  [ "$(cat "$venv/installed" 2>/dev/null)" = "$key" ] && return
  echo "compare: making the environment of $1" >&2
  "${PYTHON:-python3}" -m venv --clear "$venv"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "bench/compare/peers/$1.txt"
  if [ -f "bench/compare/peers/$1-no-deps.txt" ]; then
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps -r "bench/compare/peers/$1-no-deps.txt"
    "$venv/bin/python" tools/make_empty_cuda.py
  fi
  echo "$key" >"$venv/installed"
}

for peer in dali torchvision opencv tfdata spdl; do environment "$peer"; done
exec .venv/bin/python bench/compare/race.py "$@"
