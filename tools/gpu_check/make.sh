#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# tools/gpu_check/make.sh OUT [PYTHON]: makes the folder OUT, and OUT.tar.xz of it, which checks
# Stoker on a machine with a GPU but no compiler or network. PYTHON is needed if that machine's
# Python has another version than .venv's. Needs build/cuda: `make gpu-check OUT=...` does both.
set -euo pipefail
out=$(realpath -m "${1:?usage: make.sh OUT [PYTHON]}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [ -e "$out" ]; then
  echo "gpu-check: $out is there already; give a folder that is not" >&2
  exit 1
fi
packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
python=$PWD/.venv/bin/python
if [ -n "${2:-}" ]; then
  "$2" -m venv --clear build/gpu-check-python
  python=$PWD/build/gpu-check-python/bin/python
fi
version=$("$python" -c 'import platform; print(".".join(platform.python_version_tuple()[:2]))')
build=build/cuda-wheel-$version
pip=("$python" -m pip --disable-pip-version-check -q)
[ -z "${2:-}" ] || "${pip[@]}" install -r requirements/build.txt
mkdir -p "$out"/{bin,lib/gcc,pictures,tests,wheels}

cp build/cuda/stoker_run_test build/cuda/bench_gpu_fused "$out/bin"
# The wheel as users build it, but with CUDA, in its own build folder. ccache knows most of it.
"${pip[@]}" wheel --no-deps --no-build-isolation --wheel-dir "$out/wheels" . \
  --config-settings build-dir="$build" --config-settings cmake.define.STOKER_CUDA=ON \
  --config-settings cmake.define.STOKER_WERROR=ON
# What the Python tests need, in the pinned versions, but not SciPy and OpenCV, which would double
# the folder: oracles need them on the other machine.
"${pip[@]}" download --only-binary :all: --dest "$out/wheels" --constraint requirements/test.txt \
  numpy pillow lz4 soundfile zstandard pytest pytest-timeout pytest-xdist
# The libraries that these link to, without those that every Linux has.
ldd "$out"/bin/* "$build"/python/stoker/_core*.so | awk '$3 ~ /^\// {print $3}' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread)\.so' | xargs -I{} cp -L {} "$out/lib"
mv "$out"/lib/{libgcc_s,libstdc++}.so.* "$out/lib/gcc"
cp "$packages"/nvidia/cu13/lib/libnvjpeg.so.* "$out/lib"
strip --strip-unneeded "$out"/bin/*

cp -r tests/{conftest,helpers,jpegs,capsules}.py tests/{oracles,conformance,gpu,golden} "$out/tests"
.venv/bin/python tests/gpu/nvjpeg_files.py "$out/tests/gpu/nvjpeg_files"
cp -r examples "$out"
cp bench/gpu_pipeline.py tools/gpu_check/{check.py,run.sh} "$out"
.venv/bin/python examples/synthetic_photos.py "$out/pictures" 256
echo "$version" >"$out/python_version"
git describe --always --dirty >"$out/commit"
find "$out" -name __pycache__ -prune -exec rm -rf {} +
XZ_OPT='-9 -T0' tar -C "$(dirname "$out")" -cJf "$out.tar.xz" "$(basename "$out")"
echo "gpu-check: $out ($(du -sh "$out" | cut -f1)), packed $(du -h "$out.tar.xz" | cut -f1)." \
  "There, with Python $version: ./run.sh"
