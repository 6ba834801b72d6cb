#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the site of the documentation in build/site, which can be read without a network.

The pages are those of the repository, at the same places, so that their links hold. Folders
without an index get one, and operators of pictures a row of pictures, before and after. It fails on
a dead link.
"""

from __future__ import annotations

import html.parser
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import site_pictures  # beside this program

ROOT = Path(__file__).resolve().parent.parent
SOURCE, SITE = ROOT / "build" / "site-source", ROOT / "build" / "site"
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "src/README.md", "python/stoker/README.md")
FOLDERS = {
    "guide": ("Guide", "How to use Stoker, page by page; the programs on them are tests."),
    "ops": ("Operators", "A page for each operator. Search finds them by name and by argument."),
    "design": ("Design", "Why things are as they are, one page per decision."),
}
# The pages that come first, in this order; the others follow by name.
FIRST = ("first-pipeline", "installing", "from-dataloader", "transforms", "threads", "moving-over")


def copy_pages() -> None:
    """Fills the source folder: the repository's own pages at their own places."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    for page in PAGES:
        (SOURCE / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / page, SOURCE / page)
    for folder in FOLDERS:
        copied = shutil.copytree(ROOT / "docs" / folder, SOURCE / "docs" / folder)
        if (copied / "README.md").exists():
            (copied / "README.md").rename(copied / "index.md")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for folder in FOLDERS:
        text = text.replace(f"](docs/{folder})", f"](docs/{folder}/index.md)")
    (SOURCE / "index.md").write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "tools" / "iframe-worker.js", SOURCE)
    for page in SOURCE.rglob("*.md"):
        inside = page.read_text(encoding="utf-8")
        inside = re.sub(r"\A(<!--.*?-->\n)+", "", inside)  # else the title is the file's name
        inside = re.sub(r"\]\(((?:\.\./)+)README\.md", r"](\1index.md", inside)
        page.write_text(inside, encoding="utf-8")


def title_of(page: Path) -> str:
    found = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), re.M)
    return found[1] if found else page.stem


def in_order(pages: list[Path]) -> list[Path]:
    first = {stem: i for i, stem in enumerate(FIRST)}
    return sorted(pages, key=lambda page: (first.get(page.stem, len(first)), page.stem))


def write_indexes() -> None:
    """Gives each folder a page that lists its pages, unless it brings one."""
    for folder, (title, words) in FOLDERS.items():
        index = SOURCE / "docs" / folder / "index.md"
        if index.exists():
            continue
        pages = in_order(list((SOURCE / "docs" / folder).glob("*.md")))
        lines = [f"- [{title_of(page)}]({page.name})" for page in pages]
        text = f"# {title}\n\n{words}\n\n" + "\n".join(lines) + "\n"
        index.write_text(text, encoding="utf-8")


def add_pictures() -> None:
    """Puts pictures, before and after, under the title of the operators that have some."""
    folder = SOURCE / "docs" / "ops"
    for name, call, file in site_pictures.make(folder / "pictures"):
        page = folder / f"{name}.md"
        head, title, rest = page.read_text(encoding="utf-8").partition(f"# fn.{name}\n")
        if not title:
            sys.exit(f"make_site: {page} has no title to put pictures under")
        shown = f"\n![before, and after {call}](pictures/{file})\n\n`{call}`\n"
        page.write_text(head + title + shown + rest, encoding="utf-8")


def configured() -> Path:
    """The configuration with the pages of each folder in order."""
    import yaml

    text = (ROOT / "tools" / "mkdocs.yml").read_text(encoding="utf-8")
    config: dict[str, Any] = yaml.safe_load(text)
    config["docs_dir"], config["site_dir"] = str(SOURCE), str(SITE)
    for entry in config["nav"]:
        for title, place in entry.items():
            if place.endswith(".md"):
                continue
            pages = in_order([p for p in (SOURCE / place).glob("*.md") if p.name != "index.md"])
            entry[title] = [f"{place}/index.md", *(f"{place}/{page.name}" for page in pages)]
    file = ROOT / "build" / "mkdocs.yml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    return file


class Links(html.parser.HTMLParser):
    """The places that a page of HTML names, and the anchors that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {""}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def dead_links(site: Path) -> list[str]:
    """Every link of the site that leads nowhere, or to the network when a page is only read."""
    pages: dict[Path, Links] = {}
    for page in sorted(site.rglob("*.html")):
        pages[page] = Links()
        pages[page].feed(page.read_text(encoding="utf-8"))
    dead = []
    for page, found in pages.items():
        if page.name == "404.html":  # its links are for a server
            continue
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchors = pages[target].anchors if target in pages else None
            if not target.is_file() or (
                anchors is not None and unquote(parts.fragment) not in anchors
            ):
                dead.append(f"{page.relative_to(site)}: {link}")
    return dead


def main() -> None:
    copy_pages()
    add_pictures()
    write_indexes()
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", str(configured())]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit("make_site: mkdocs found something")
    dead = dead_links(SITE)
    if dead:
        sys.exit("make_site: dead links:\n" + "\n".join(dead))
    print(f"{len(list(SITE.rglob('*.html')))} pages, no dead link: {SITE / 'index.html'}")


if __name__ == "__main__":
    main()
