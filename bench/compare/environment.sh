#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the missing environments of peers in build/compare: bench/compare/environment.sh PEER...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

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

for peer; do environment "$peer"; done
