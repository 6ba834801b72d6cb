# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The recipes of CONTRIBUTING.md name all that is to be touched, and its example is an operator."""

from __future__ import annotations

import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def text(repository: Path) -> str:
    return (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")


def recipe(text: str, name: str) -> str:
    (found,) = re.findall(rf"^\*\*{name}\*\*.*?(?=^\*\*|^## )", text, re.M | re.S)
    return str(found)


def is_named(path: str, names: list[str]) -> bool:
    patterns = [re.sub("<[^>]*>", "*", n) + "*" * n.endswith("/") for n in names]
    return any(fnmatch(path, start + p) for p in patterns for start in ("", "src/"))


def files_that_name(words: str, repository: Path) -> list[str]:
    command = ["git", "grep", "-IilE", words, "--", ".", ":!CHANGELOG.md", ":!tests/tools"]
    found = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True)
    return found.stdout.split()


def test_the_recipe_of_a_picture_format_names_every_file(repository: Path, text: str) -> None:
    """JPEG XL is judged: nothing but picture formats is about it."""
    files = files_that_name("jpeg.?xl|jxl", repository)
    assert "src/codec/formats/jpegxl_codec.cc" in files
    names = re.findall(r"`([\w./<>-]+)`", recipe(text, "A picture format"))
    assert [f for f in files if not is_named(f, names)] == []


def test_a_file_that_a_recipe_lacks_is_found() -> None:
    names = ["codec/formats/<format>_codec.cc", "fuzz/seeds/", "bench/codecs.py"]
    assert is_named("src/codec/formats/gif_codec.cc", names)
    assert is_named("fuzz/seeds/a/b", names)
    assert not is_named("src/codec/formats/gif.cc", names)
    assert not is_named("bench/other.py", names)


def test_the_example_is_the_operator_that_it_names(repository: Path, text: str) -> None:
    chapter = text.partition("## Adding an operator")[2].partition("## ")[0]
    block = [line[4:] for line in re.findall(r"^    .*$|^$", chapter, re.M)]
    source = (repository / "tests/new_operators/example/posterize.cu").read_text(encoding="utf-8")
    assert "\n".join(line for line in source.splitlines()[3:] if line) in "\n".join(
        line for line in block if line
    )


@pytest.mark.parametrize(
    "thing",
    [
        *("A reader", "An origin of bytes", "A setting", "An error policy", "A picture format"),
        *("A verb of the command line", "A framework", "A test of a mended fault"),
        *("A fuzz target", "A benchmark"),
    ],
)
def test_there_is_a_recipe(text: str, thing: str) -> None:
    assert len(recipe(text, thing).split()) > 30
