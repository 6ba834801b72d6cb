# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What builds, packs and shows Stoker: missing packages, symbol versions of wheels, dead links."""

from __future__ import annotations

import ctypes
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from helpers import load_tool


@pytest.fixture(scope="session")
def packages(repository: Path) -> list[str]:
    lines = (repository / "requirements" / "build.debian").read_text().split()
    return [line for line in lines if line != "ccache"]  # a comfort


def test_the_build_looks_for_every_package(repository: Path, packages: list[str]) -> None:
    text = (repository / "cmake" / "packages.cmake").read_text()
    looked_for = {*re.findall(r'^    "[^|"]+\|([^|"]+)"', text, re.M), "g++", "pkg-config"}
    for codec in repository.glob("src/codec/*/*_codec.cc"):
        looked_for.update(re.findall(r"^// Codec of .*, by \S+ \((\S+)\)", codec.read_text(), re.M))
    assert sorted(looked_for) == sorted(packages)


def test_the_guide_names_every_package(repository: Path, packages: list[str]) -> None:
    text = (repository / "docs" / "guide" / "installing.md").read_text()
    rows = [re.findall(r"`([^`]+)`", line) for line in text.splitlines() if line.startswith("| `")]
    assert sorted(row[0] for row in rows) == sorted([*packages, "python3-dev"])
    assert all(len(row) == 4 for row in rows)
    (command,) = re.findall(r"    apt-get install ((?:.*\\\n)*.*)\n", text.partition("## From")[2])
    assert sorted(command.replace("\\", "").split()) == sorted([*packages, "python3-dev"])


def test_all_missing_packages_are_named_at_once(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(scratch LANGUAGES NONE)\n"
        f"include({repository / 'cmake' / 'packages.cmake'})\n"
    )
    programs = Path(sys.executable).parent
    cmake, ninja = (shutil.which(name, path=programs) for name in ("cmake", "ninja"))
    assert cmake and ninja  # of requirements/build.txt
    nothing_is_found = [
        "-GNinja",
        f"-DCMAKE_MAKE_PROGRAM={ninja}",
        "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
        "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF",
        "-DCMAKE_CXX_COMPILER=/usr/bin/c++",
        "-Dstoker_pkg_config=stoker_pkg_config-NOTFOUND",
    ]
    done = subprocess.run(
        [cmake, "-S", str(tmp_path), "-B", str(tmp_path / "build"), *nothing_is_found],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    text = " ".join(done.stderr.split())
    assert "apt-get install pkg-config libjpeg62-turbo-dev libhwy-dev libsimdjson-dev" in text
    lost = text.partition("Without these it would lack ")[2].partition(":")[0].split(", ")
    assert {"AVIF", "HEIF", "JPEG 2000", "PNG", "zlib", "gzip", "WebP", "Ogg", "AU"} <= {*lost}
    assert "JPEG" not in lost  # nothing can be built without it
    assert "docs/guide/installing.md" in text


@pytest.fixture
def older(repository: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(repository / "tools" / "wheel"))
    import older_symbols

    return older_symbols


def shared_library(folder: Path, body: str) -> Path:
    """A library of this C code. Functions of libm are asked for as the compiler finds them."""
    text = f"#include <math.h>\n#include <stdlib.h>\n{body}\nint old(int x) {{ return abs(x); }}\n"
    (folder / "code.c").write_text(text)
    out = folder / "code.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-fno-builtin", "-o", out, folder / "code.c", "-lm"], check=True
    )
    return out


def versions_of(library: Path) -> str:
    return subprocess.run(
        ["objdump", "-T", str(library)], capture_output=True, text=True, check=True
    ).stdout


# hypot has a newer version since glibc 2.35. Other architectures have other old versions.
with_two_versions = pytest.mark.skipif(
    platform.machine() != "x86_64"
    or platform.libc_ver()[0] != "glibc"
    or tuple(map(int, platform.libc_ver()[1].split("."))) < (2, 35),
    reason="hypot has two versions in glibc 2.35 and later on x86-64 only",
)


@with_two_versions
def test_a_library_asks_for_the_older_symbol(older: ModuleType, tmp_path: Path) -> None:
    library = shared_library(tmp_path, "double length(double x, double y) { return hypot(x, y); }")
    assert "GLIBC_2.35" in versions_of(library)
    assert older.make_older(library)
    assert "GLIBC_2.35" not in versions_of(library)
    function = ctypes.CDLL(str(library)).length
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * 2
    assert function(3.0, 4.0) == 5.0
    assert not older.make_older(library)


@with_two_versions
def test_other_new_symbols_are_left(older: ModuleType, tmp_path: Path) -> None:
    """fminimum is as new as 2.35 and has no older version, so nothing may be changed."""
    library = shared_library(
        tmp_path,
        "double fminimum(double, double);\n"
        "double both(double x, double y) { return fminimum(hypot(x, y), y); }",
    )
    assert "GLIBC_2.35" in versions_of(library)
    before = library.read_bytes()
    assert not older.make_older(library)
    assert library.read_bytes() == before


def test_dead_links_are_found(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(repository / "tools"))
    site = load_tool(repository, "make_site")
    (tmp_path / "a.html").write_text(
        "<h1 id='top'>a</h1><a href='b.html#there'></a><a href='b.html#gone'></a>"
        "<a href='c.html'></a><a href='#top'></a><img src='no.png'><a href='https://x/y'></a>"
    )
    (tmp_path / "b.html").write_text("<h2 id='there'>b</h2>")
    assert site.dead_links(tmp_path) == ["a.html: b.html#gone", "a.html: c.html", "a.html: no.png"]


def test_a_folder_may_bring_its_index(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(repository / "tools"))
    site = load_tool(repository, "make_site")
    monkeypatch.setattr(site, "SOURCE", tmp_path)
    for folder in site.FOLDERS:
        (tmp_path / "docs" / folder).mkdir(parents=True)
        (tmp_path / "docs" / folder / "page.md").write_text("# A page\n")
    brought = tmp_path / "docs" / "ops" / "index.md"
    brought.write_text("# Operators\n")
    site.write_indexes()
    assert brought.read_text() == "# Operators\n"
    assert (tmp_path / "docs" / "guide" / "index.md").read_text().endswith("- [A page](page.md)\n")


def test_every_picture_is_of_an_operator_that_changes_it(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(repository / "tools"))
    pictures = load_tool(repository, "site_pictures")
    made = list(pictures.make(tmp_path))
    assert [name for name, _, _ in made] == list(pictures.CALLS)
    assert all((tmp_path / file).stat().st_size > 1000 for _, _, file in made)
