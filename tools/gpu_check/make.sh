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
mkdir -p "$out"/{bin,lib,python,pictures}

cp build/cuda/stoker_run_test build/cuda/bench_gpu_fused "$out/bin"
cp -rL build/cuda/python/stoker "$out/python/stoker"
# What these were linked with, but for what every Linux has.
ldd "$out"/bin/* "$out"/python/stoker/_core*.so | awk '$3 ~ /^\// {print $3}' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread)\.so' | xargs -I{} cp -L {} "$out/lib"
# What the Python tests need, as pinned.
grep -hiE '^(numpy|pytest|pytest-timeout|pillow|opencv-python-headless)==' requirements/test.txt |
  xargs .venv/bin/python -m pip install -q --disable-pip-version-check --target "$out/python"
cp "$packages"/nvidia/cu13/lib/libnvjpeg.so.* "$out/lib"
mkdir -p "$out/tests"
cp -r tests/{conftest.py,helpers.py,jpegs.py,capsules.py,oracles,conformance,gpu,golden} "$out/tests"
cp -r examples "$out"
cp bench/gpu_pipeline.py tools/gpu_check/{check.py,run.sh} "$out"
.venv/bin/python examples/synthetic_photos.py "$out/pictures" 256
.venv/bin/python -c 'import platform; print(".".join(platform.python_version_tuple()[:2]))' >"$out/python_version"
git describe --always --dirty >"$out/commit"
find "$out" -name __pycache__ -prune -exec rm -rf {} +
XZ_OPT='-3 -T0' tar -C "$(dirname "$out")" -cJf "$out.tar.xz" "$(basename "$out")"
echo "gpu-check: $out ($(du -sh "$out" | cut -f1)), packed $(du -h "$out.tar.xz" | cut -f1). There: ./run.sh"
