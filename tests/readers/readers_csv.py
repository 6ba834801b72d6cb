# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.csv: texts, numbers and files, with quoted cells."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from .common import Array, Store, array_of, some_bytes

TEXTS = ["plain", "with, comma", 'with "quotes"', "two\nlines", "", " blanks ", "Zürich"]


def _rows(folder: Path, count: int) -> tuple[list[list[Any]], list[tuple[Array, ...]]]:
    rows: list[list[Any]] = []
    samples: list[tuple[Array, ...]] = []
    for i in range(count):
        path = folder / "data" / f"{i}.bin"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(some_bytes(i, 20 + 13 * i))
        text, number = TEXTS[i % len(TEXTS)], i / 7
        rows.append([f"data/{i}.bin", "unused", text, i - 3, repr(number)])
        samples.append(
            (
                np.array([i - 3], np.int64),
                array_of(path.read_bytes()),
                array_of(text.encode()),
                np.array([number], np.float32),
            )
        )
    return rows, samples


def _store(folder: Path, count: int, delimiter: str, header: list[str] | None) -> Store:
    rows, samples = _rows(folder, count)
    table = folder / "table.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows(([header] if header else []) + rows)
    names = [header[k] if header else str(k) for k in (3, 0, 2, 4)]
    files = [folder / f"data/{i}.bin" for i in range(count)]
    arguments = {
        "path": table,
        "columns": names,
        "file_columns": [names[1]],
        "dtypes": ["int64", "uint8", "uint8", "float32"],
        "delimiter": delimiter,
        "has_header": header is not None,
    }
    return Store(arguments, samples, files, lambda i: files[i].unlink(), takes_any_file=True)


def make(folder: Path, count: int) -> Store:
    return _store(folder, count, ",", ["picture", "b", "text", "label", "weight"])


def make_plain(folder: Path, count: int) -> Store:
    return _store(folder, count, ";", None)


VARIANTS = {"with a header": make, "without": make_plain}
