#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds a wheel for each interpreter, with the libraries that it needs inside:
# tools/wheel/build.sh [PYTHON]... leaves them in build/wheels. docs/design/016-first-contact.md
# says why it is built so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=$PWD/.venv/bin:$PATH
platform=manylinux_2_34_$(uname -m)
tiff=$PWD/build/wheel-tiff
mkdir -p build/wheels
tools/wheel/tiff.sh "$tiff" >build/wheel-tiff.log 2>&1 || { cat build/wheel-tiff.log; exit 1; }
[ $# -gt 0 ] || set -- .venv/bin/python
for python in "$@"; do
  raw=$(mktemp -d -p build wheel-raw.XXXX)
  # The compiler and the flags of `make build`, so that ccache knows the objects.
  "$python" -m pip wheel -q --disable-pip-version-check --no-deps -w "$raw" . \
    --config-settings=cmake.define.STOKER_WERROR=ON \
    --config-settings=cmake.define.CMAKE_CXX_COMPILER=/usr/bin/c++
  .venv/bin/python tools/wheel/bundle.py "$raw"/*.whl build/wheels "$platform" "$tiff/lib"
  rm -r "$raw"
done
