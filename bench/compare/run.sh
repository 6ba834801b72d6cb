#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes an environment for each peer in build/compare, if it is not there, and races the peers by
# bench/compare/race.py, which gets the arguments: --parts starts,race,two,epochs, --peers
# dali,opencv, --rounds N, --data FOLDER (--help lists all).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [ ! -x build/release/bench_limit ]; then
  echo "compare: 'make compare' builds what is needed first" >&2
  exit 1
fi

environment() { # peer
  local venv=build/compare/$1 peer=bench/compare/peers/$1 key pip
  key=$(cat "$peer"*.txt | sha256sum)
  [ "$(cat "$venv/installed" 2>/dev/null)" = "$key" ] && return
  echo "compare: making the environment of $1" >&2
  "${PYTHON:-python3}" -m venv --clear "$venv"
  pip=("$venv/bin/python" -m pip -q --disable-pip-version-check)
  "${pip[@]}" install -r "$peer.txt"
  if [ -f "$peer-no-deps.txt" ]; then
    "${pip[@]}" install --no-deps -r "$peer-no-deps.txt"
    "$venv/bin/python" tools/make_empty_cuda.py
  fi
  echo "$key" >"$venv/installed"
}

for peer in dali torchvision opencv tfdata spdl; do environment "$peer"; done
exec .venv/bin/python bench/compare/race.py "$@"
