#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Puts the libraries that a wheel needs into it, with their licences.

Libraries are taken from the first folder that has them. A library whose Debian package is not in
the table below is refused, since somebody has to read its licence first. Nothing under the GPL is
in it.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from elftools.elf.elffile import ELFFile
from older_symbols import make_older

LICENCES = {
    "libabsl20220623": "Apache-2.0",
    "libaom3": "BSD-2-Clause",
    "libavif15": "BSD-2-Clause",
    "libbrotli1": "MIT",
    "libdav1d6": "BSD-2-Clause",
    "libdeflate0": "MIT",
    "libflac12": "BSD-3-Clause",
    "libgav1-1": "Apache-2.0",
    "libhwy1": "Apache-2.0",
    "libisal2": "BSD-3-Clause",
    "libjpeg62-turbo": "IJG AND BSD-3-Clause AND Zlib",
    "libjxl0.7": "BSD-3-Clause",
    "liblcms2-2": "MIT",
    "liblerc4": "Apache-2.0",
    "liblz4-1": "BSD-2-Clause",
    "liblzma5": "public domain",
    "libmp3lame0": "LGPL-2.0-or-later",
    "libmpg123-0": "LGPL-2.1-only",
    "libogg0": "BSD-3-Clause",
    "libopenjp2-7": "BSD-2-Clause",
    "libopus0": "BSD-3-Clause",
    "libpugixml1v5": "MIT",
    "librav1e0": "BSD-2-Clause",
    "libsimdjson14": "Apache-2.0",
    "libsndfile1": "LGPL-2.1-or-later",
    "libsvtav1enc1": "BSD-3-Clause-Clear",
    "libtiff6": "libtiff",
    "libvorbis0a": "BSD-3-Clause",
    "libvorbisenc2": "BSD-3-Clause",
    "libwebp7": "BSD-3-Clause",
    "libyuv0": "BSD-3-Clause",
    "libzstd1": "BSD-3-Clause",
    "zlib1g": "Zlib",
}
# What every system has, and no wheel brings along.
BASE = {
    "libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2",
    "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
}  # fmt: skip
POLICY = "manylinux_2_34"
# auditwheel knows the rules for all machines, but takes those of the machine that it runs on.
AUDITWHEEL = """
import platform, sys
machine = sys.argv.pop(1)
platform.machine = lambda: machine
from auditwheel.main import main
sys.exit(main())
"""
ARCHITECTURE = f"{platform.machine()}-linux-gnu"
# What stands in for a package's own library: built of the same source, see tools/wheel/tiff.sh.
OURS = {"libtiff.so.6": "libtiff6"}


def output_of(*command: str, **environment: str) -> str:
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, **environment}
    )
    if done.returncode != 0:
        sys.exit(f"bundle: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def libraries_of(module: Path, folders: list[Path]) -> dict[str, Path]:
    """The paths of all libraries that a module needs, by the names under which they are wanted.

    Those of the system are left out. The module may be for another machine than this.
    """
    found: dict[str, Path] = {}
    ahead = [module]
    while ahead:
        with ahead.pop().open("rb") as stream:
            tags = list(ELFFile(stream).get_section_by_name(".dynamic").iter_tags("DT_NEEDED"))
        for name in (tag.needed for tag in tags):
            if name in BASE or name in found:
                continue
            path = next((f / name for f in folders if (f / name).exists()), None)
            if path is None:
                sys.exit(f"bundle: no folder has {name}")
            found[name] = path
            ahead.append(path)
    return found


def package_of(name: str, path: Path) -> str:
    if name in OURS:
        return OURS[name]
    # For another machine, the same file of this machine belongs to the package of the same name.
    for folder in ("/usr/lib", "/lib"):  # dpkg knows one of them
        here = Path(folder, ARCHITECTURE, path.resolve().name)
        found = subprocess.run(["dpkg", "-S", here], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    sys.exit(f"bundle: no Debian package has {path}")


def bundled_in(wheel: Path) -> set[str]:
    """The libraries in a repaired wheel, by the names that they had: libjpeg-0123abcd.so.62.3.0."""
    with zipfile.ZipFile(wheel) as archive:
        names = [Path(n).name for n in archive.namelist() if ".libs/" in n and ".so" in n]
    return {re.sub(r"-[0-9a-f]{8,}(?=\.so)", "", name) for name in names}


def add_licences(wheel: Path, libraries: dict[str, Path], tree: Path) -> None:
    """Adds the licences of the libraries that are in the wheel to the folder it is unpacked in."""
    bundled = bundled_in(wheel)
    packages = sorted(
        {
            package_of(name, path)
            for name, path in libraries.items()
            if {name, path.resolve().name} & bundled
        }
    )
    unknown = [package for package in packages if package not in LICENCES]
    if unknown:
        sys.exit(f"bundle: {', '.join(unknown)}: read the licence, then add it to LICENCES or not")
    (info,) = tree.glob("*.dist-info")
    folder = info / "licenses" / "bundled"
    folder.mkdir(parents=True)
    rows = []
    for package in packages:
        text = Path("/usr/share/doc", package, "copyright").read_text(encoding="utf-8")
        (folder / f"{package}.txt").write_text(text, encoding="utf-8")
        version = output_of(
            "dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", package
        )
        rows.append(f"{package}: {LICENCES[package]}; Debian's source package {version}\n")
    (folder / "README.txt").write_text(
        "The shared libraries in stoker.libs are Debian's, except libtiff, which is built of\n"
        "Debian's source without JBIG. Each may be replaced by another build of it.\n\n"
        + "".join(rows),
        encoding="utf-8",
    )


def name_cuda(tree: Path, module: Path) -> None:
    """Gives a wheel with CUDA the version of its module, 0.1.0+cu13, and what it opens there."""
    version = re.search(rb"\0(([\d.]+)\+cu(\d+))\0", module.read_bytes())
    if version is None:
        return
    whole, plain, cuda = (part.decode() for part in version.groups())
    (info,) = tree.glob("*.dist-info")
    info = info.rename(tree / f"stoker-{whole}.dist-info")
    metadata = info / "METADATA"
    text = metadata.read_text(encoding="utf-8")
    library = f"nvidia-nvjpeg>={cuda},<{int(cuda) + 1}"
    changed = text.replace(
        f"\nVersion: {plain}\n", f"\nVersion: {whole}\nRequires-Dist: {library}\n", 1
    )
    if changed == text:
        sys.exit(f"bundle: the wheel's version is not {plain}, that of its module")
    metadata.write_text(changed, encoding="utf-8")


def repacked(wheel: Path, into: Path) -> tuple[Path, Path]:
    """The wheel with its module asking for older symbols, and named after it; and the module."""
    output_of(sys.executable, "-m", "wheel", "unpack", "-d", str(into), str(wheel))
    (tree,) = into.iterdir()
    (module,) = tree.glob("stoker/_core*.so")
    make_older(module)
    name_cuda(tree, module)
    output_of(sys.executable, "-m", "wheel", "pack", "-d", str(into), str(tree))
    (packed,) = into.glob("*.whl")
    return packed, module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("into", type=Path, help="the folder for the new wheel")
    parser.add_argument("machine", help="x86_64 or aarch64")
    parser.add_argument("folders", type=Path, nargs="+", help="where the libraries are")
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folders = {name: Path(scratch, name) for name in ("older", "libraries", "repaired", "tree")}
        for folder in folders.values():
            folder.mkdir()
        packed, module = repacked(given.wheel, folders["older"])
        libraries = libraries_of(module, given.folders)
        for name, path in libraries.items():
            make_older(Path(shutil.copy(path, folders["libraries"] / name)))
        output_of(
            sys.executable, "-c", AUDITWHEEL, given.machine, "repair",
            "--plat", f"{POLICY}_{given.machine}", "-w", str(folders["repaired"]), str(packed),
            LD_LIBRARY_PATH=str(folders["libraries"]),
        )  # fmt: skip
        (repaired,) = folders["repaired"].glob("*.whl")
        output_of(
            sys.executable, "-m", "wheel", "unpack", "-d", str(folders["tree"]), str(repaired)
        )
        (tree,) = folders["tree"].iterdir()
        add_licences(repaired, libraries, tree)
        output_of(sys.executable, "-m", "wheel", "pack", "-d", str(given.into), str(tree))
    done = given.into / repaired.name
    print(done, f"{done.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
