#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# tools/gpu_check/make.sh OUT: fills the new folder OUT with what checks Stoker on a machine that has a GPU and neither compiler
# nor network, and packs it as OUT.tar.xz. Needs a built build/cuda; `make gpu-check OUT=...` sees to that.
set -euo pipefail
out=$(realpath -m "${1:?usage: make.sh OUT}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ ! -e "$out" ] || { echo "gpu-check: $out is there already; give a folder that is not" >&2; exit 1; }
packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
pip=(.venv/bin/python -m pip --disable-pip-version-check -q)
mkdir -p "$out"/{bin,lib,pictures,tests,wheels}

cp build/cuda/stoker_run_test build/cuda/bench_gpu_fused "$out/bin"
# The wheel as users build it, but with CUDA, in a build folder of its own; ccache knows most of it from build/cuda.
"${pip[@]}" wheel --no-deps --no-build-isolation --wheel-dir "$out/wheels" . \
  --config-settings build-dir=build/cuda-wheel --config-settings cmake.define.STOKER_CUDA=ON \
  --config-settings cmake.define.STOKER_WERROR=ON
# What the Python tests need, as pinned.
"${pip[@]}" download --only-binary :all: --dest "$out/wheels" --constraint requirements/test.txt \
  numpy pillow pytest pytest-timeout
# What these were linked with, but for what every Linux has.
ldd "$out"/bin/* build/cuda-wheel/python/stoker/_core*.so | awk '$3 ~ /^\// {print $3}' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread)\.so' | xargs -I{} cp -L {} "$out/lib"
cp "$packages"/nvidia/cu13/lib/libnvjpeg.so.* "$out/lib"
strip --strip-unneeded "$out"/bin/*

cp -r tests/{conftest.py,helpers.py,jpegs.py,capsules.py,oracles,conformance,gpu,golden} "$out/tests"
.venv/bin/python tests/gpu/nvjpeg_files.py "$out/tests/gpu/nvjpeg_files"
cp -r examples "$out"
cp bench/gpu_pipeline.py tools/gpu_check/{check.py,run.sh} "$out"
.venv/bin/python examples/synthetic_photos.py "$out/pictures" 256
.venv/bin/python -c 'import platform; print(".".join(platform.python_version_tuple()[:2]))' >"$out/python_version"
git describe --always --dirty >"$out/commit"
find "$out" -name __pycache__ -prune -exec rm -rf {} +
XZ_OPT='-9 -T0' tar -C "$(dirname "$out")" -cJf "$out.tar.xz" "$(basename "$out")"
echo "gpu-check: $out ($(du -sh "$out" | cut -f1)), packed $(du -h "$out.tar.xz" | cut -f1). There: ./run.sh"
