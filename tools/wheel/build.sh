#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds wheels with the libraries that they need inside, in build/wheels:
# tools/wheel/build.sh [PYTHON|VERSION|VERSION+cuda|arm64]... makes one for each Python, without
# CUDA or with it (which needs nvcc), and one for ARM64 and Debian's Python there. interpreter.sh
# finds a version such as 3.13t. See docs/design/016-first-contact.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=$PWD/.venv/bin:$PATH

# Options of pip go to CMake. WERROR and the compiler are those of `make build`, for ccache.
build() { # python machine libraries [option...]
  local python=$1 machine=$2 libraries=$3 tiff=$PWD/build/wheel-tiff-$2 raw
  raw=$(mktemp -d -p build wheel-raw.XXXX)
  "$python" -m pip wheel -q --disable-pip-version-check --no-deps -w "$raw" . \
    --config-settings=cmake.define.STOKER_WERROR=ON "${@:4}"
  .venv/bin/python tools/wheel/bundle.py "$raw"/*.whl build/wheels "$machine" \
    "$tiff/lib" "$libraries" "${libraries/usr\/lib/lib}"
  rm -r "$raw"
}

make_tiff() { # machine [option of CMake...]
  local log=build/wheel-tiff-$1.log
  mkdir -p build
  tools/wheel/tiff.sh "$PWD/build/wheel-tiff-$1" "${@:2}" >"$log" 2>&1 || { cat "$log"; exit 1; }
}

native() { # python [option...]
  make_tiff "$(uname -m)"
  build "$1" "$(uname -m)" "/usr/lib/$(uname -m)-linux-gnu" \
    --config-settings=cmake.define.CMAKE_CXX_COMPILER=/usr/bin/c++ "${@:2}"
}

# For the GPUs of the preset cuda-release.
with_cuda() { # python
  local gpus
  gpus=$(.venv/bin/python -c 'import json; print(*(p["cacheVariables"]["CMAKE_CUDA_ARCHITECTURES"]
    for p in json.load(open("CMakePresets.json"))["configurePresets"]
    if p["name"] == "cuda-release"))')
  native "$1" --config-settings=cmake.define.STOKER_CUDA=ON \
    "--config-settings=cmake.define.CMAKE_CUDA_ARCHITECTURES=$gpus" \
    --config-settings=build-dir='build/wheel-cuda-{cache_tag}'
}

# Cross-compiled, with the headers and configuration of that machine's Python, and with the stubs of
# this machine's build, which has the same version.
arm64() {
  local root=$PWD/build/arm64-root toolchain=$PWD/cmake/arm64.cmake python number
  tools/install.sh arm64
  tools/arm64_root.sh
  number=$(readlink "$root/usr/bin/python3")
  number=${number#python3.}
  [ -e build/release/stubs/stamp ] || { echo 'first: make build' >&2; exit 1; }
  make_tiff aarch64 "-DCMAKE_TOOLCHAIN_FILE=$toolchain"
  # What builds runs on this machine, so it is installed before Python is told of the other one.
  python=$(tools/wheel/interpreter.sh "3.$number")
  "$python" -m venv build/wheel-arm64-python
  python=$PWD/build/wheel-arm64-python/bin/python
  "$python" -m pip install -q --disable-pip-version-check -r requirements/build.txt
  (
    export _PYTHON_HOST_PLATFORM=linux-aarch64
    export SETUPTOOLS_EXT_SUFFIX=.cpython-3$number-aarch64-linux-gnu.so
    build "$python" aarch64 "$root/usr/lib/aarch64-linux-gnu" \
      "--config-settings=cmake.define.CMAKE_TOOLCHAIN_FILE=$toolchain" \
      "--config-settings=cmake.define.Python_INCLUDE_DIR=$root/usr/include/python3.$number" \
      "--config-settings=cmake.define.STOKER_STUBS=$PWD/build/release/stubs" \
      --config-settings=build-dir=build/wheel-arm64 --no-build-isolation
  )
}

[ $# -gt 0 ] || set -- .venv/bin/python
for what in "$@"; do
  case $what in
    arm64) arm64 ;;
    3.*+cuda) python=$(tools/wheel/interpreter.sh "${what%+cuda}"); with_cuda "$python" ;;
    3.*) python=$(tools/wheel/interpreter.sh "$what"); native "$python" ;;
    *) native "$what" ;;
  esac
done
