#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Fails where a number is put together from bytes by hand: check_bytes.py [FILE...]

What reads headers reads them by ForeignBytes (src/base/foreign_bytes.h), which has one rule at the
end of the bytes. In src/codec, src/stores and src/io nobody else shifts bytes into a number or
swaps them, but for the lines of PIXELS_AND_CODES. Tests may, as they make files.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACES = ("src/codec", "src/stores", "src/io")
COMMENTS_AND_TEXTS = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')
BY_HAND = re.compile(
    r"<<\s*(?:8|16|24|40|48|56)\s*\||<<\s*\(?\s*8\s*\*|\*\s*256\s*\+"
    r"|(?<!\|)\|=?[^;|]*\]\)*\}?\s*<<|__builtin_bswap|\b(?:be|le)(?:16|32|64)toh\b|\bnto[hl][sl]\b"
)

# Files that may, each with a part of the line and what it makes.
PIXELS_AND_CODES = {
    "src/codec/formats/bmp_codec.cc": {"pixel = pixel << 8": "pixels"},
    "src/codec/formats/pnm_codec.cc": {"from[2 * i] << 8": "samples"},
    "src/codec/formats/gif_codec.cc": {"uint64_t{file_[at_++]} << held_": "the bits of codes"},
    "src/codec/jpeg/lossless_bits.h": {
        "length << 8": "a symbol and the length of its code",
        "__builtin_bswap64(next)": "the bits of codes",
    },
    "src/codec/jpeg2000/jpeg2000_codec.cc": {"h_.palette[at] << 8": "samples"},
    "src/codec/png/png_codec.cc": {"to[i] << 8": "samples"},
    "src/io/order/permute.h": {"<< 8 | round": "keys", "<< 8 | (round + 1)": "keys"},
}


def shifts(path: str, text: str) -> list[int]:
    """The numbers of the lines that put a number together by hand, but for what is allowed."""
    allowed = PIXELS_AND_CODES.get(path, {})
    lines = COMMENTS_AND_TEXTS.sub("", text).splitlines()
    return [
        n
        for n, line in enumerate(lines, 1)
        if BY_HAND.search(line) and not any(part in line for part in allowed)
    ]


def unused(path: str, text: str) -> list[str]:
    """What is allowed and not there."""
    return [part for part in PIXELS_AND_CODES.get(path, {}) if part not in text]


def sources() -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PLACES]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = (f for f in listed.stdout.split("\0") if f.endswith((".h", ".cc", ".cu", ".cuh")))
    return [f for f in names if "test" not in f and (ROOT / f).is_file()]


def main(files: list[str]) -> None:
    found = []
    for file in files:
        text = (ROOT / file).read_text(encoding="utf-8")
        found += [
            f"{file}:{n}: a number is made of bytes by hand; read it by ForeignBytes or "
            "number_at() (src/base/foreign_bytes.h). What makes pixels or codes has a line in "
            "PIXELS_AND_CODES (tools/check_bytes.py)"
            for n in shifts(file, text)
        ]
        found += [
            f"{file}: PIXELS_AND_CODES allows {p!r}, which is not there" for p in unused(file, text)
        ]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main(sys.argv[1:] or sources())
