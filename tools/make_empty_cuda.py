#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Makes empty CUDA libraries, so that torch can be imported without 3 GB of real ones.

They hold only the names of functions, which nothing calls on a machine without a GPU. They are
written beside the real CUDA runtime of this Python environment. It is an error if one of the real
libraries is installed.
"""

import re
import subprocess
import sys
import sysconfig
import tempfile
from collections import defaultdict
from pathlib import Path

# The prefixes of each library's functions. The first match decides, so longer ones come first.
STARTS = {
    "libcusparseLt.so.0": "cusparseLt",
    "libcublasLt.so.13": "cublasLt",
    "libcublas.so.13": "cublas",
    "libcusparse.so.12": "cusparse",
    "libcufft.so.12": "cufft",
    "libcudnn.so.9": "cudnn",
    "libnccl.so.2": "p?nccl",
    "libnvrtc.so.13": "nvrtc",
    "libnvshmem_host.so.3": "nvshmem",
    "libcufile.so.0": "cuFile",
    "libcusolver.so.12": "cusolver",
    "libcupti.so.13": "cupti",
}
MARK = b"stoker_empty_cuda"  # distinguishes these libraries from real ones

Names = dict[str, str]  # the version of each symbol, "" if it has none


def library_of(name: str, version: str) -> str | None:
    if version in STARTS:
        return version
    return next((library for library, start in STARTS.items() if re.match(start, name)), None)


def wanted_names(torch_lib: Path) -> dict[str, Names]:
    wanted: dict[str, Names] = defaultdict(dict)
    for library in sorted(torch_lib.glob("lib*.so")):
        nm = ["nm", "-D", "--undefined-only", str(library)]
        undefined = subprocess.run(nm, capture_output=True, text=True, check=True).stdout
        for line in undefined.splitlines():
            name, _, version = line.split()[-1].partition("@")
            version = version.lstrip("@")
            if owner := library_of(name, version):
                wanted[owner][name] = version
    return wanted


def make_library(out: Path, names: Names) -> None:
    functions = "".join(f"int {name}(void) {{ return 1; }}\n" for name in sorted(names))
    versions: dict[str, list[str]] = defaultdict(list)
    for name, version in sorted(names.items()):
        if version:
            versions[version].append(name)
    script = "".join(f"{v} {{ global: {'; '.join(ns)}; }};\n" for v, ns in versions.items())
    with tempfile.TemporaryDirectory() as scratch:
        source, version_map = Path(scratch, "empty.c"), Path(scratch, "empty.map")
        source.write_text(f'const char {MARK.decode()}[] = "{MARK.decode()}";\n{functions}')
        version_map.write_text(script)
        command = ["gcc", "-w", "-fno-builtin", "-shared", "-fPIC", f"-Wl,-soname,{out.name}"]
        command += [f"-Wl,--version-script={version_map}"] if script else []
        subprocess.run([*command, "-o", str(out), str(source)], check=True)


def main() -> None:
    site = Path(sysconfig.get_path("purelib"))
    torch_lib, folder = site / "torch/lib", site / "nvidia/cu13/lib"
    if not torch_lib.is_dir() or not folder.is_dir():
        sys.exit(f"make_empty_cuda: no torch and nvidia-cuda-runtime under {site}")
    real = [
        file
        for library in STARTS
        for file in site.glob(f"nvidia/*/lib/{library}")
        if MARK not in file.read_bytes()
    ]
    if real:
        sys.exit(f"make_empty_cuda: there are real CUDA libraries, e.g. {real[0]}: nothing to do")
    wanted = wanted_names(torch_lib)
    for library in STARTS:
        make_library(folder / library, wanted[library])


if __name__ == "__main__":
    main()
