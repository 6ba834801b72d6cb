# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of CSV, and folders of sequences."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import pytest
from containers import pipe_of, read

from stoker import fn
from stoker.errors import GraphError, SampleError


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ('2,"broken\n3,c\n4,d\n5,e\n', 13),
        ('2,"a ""b"" ""c\n3,c\n', 13),
        ('"2,b\n3,c', 11),
    ],
)
def test_csv_quotes_that_never_end(tmp_path: Path, text: str, at: int) -> None:
    table = tmp_path / "a.csv"
    table.write_text("id,txt\n1,o\n" + text)

    def define() -> Any:
        return (fn.readers.csv(path=str(table), columns=["txt"]),)

    assert [bytes(t) for (t,) in read(define, 1)] == [b"o"]
    pipe = pipe_of(define, 2)
    assert list(pipe.epoch_size().values()) == [2]
    with pytest.raises(SampleError, match=f"the quotes at byte {at} never end"):
        pipe.run()
    table.write_text('id,"txt\n1,ok\n')
    with pytest.raises(GraphError, match="the quotes at byte 3 never end"):
        read(define, 1)


def test_csv_is_read_as_python_reads_it(tmp_path: Path) -> None:
    table, draw = tmp_path / "a.csv", random.Random(1)
    for _ in range(60):
        # Quotes without an end fail a row, so the last row has no quotes.
        text = "".join(draw.choices('ab",\n', (3, 1, 3, 1, 1), k=40)) + '"\nend\n'
        if text.count('"') % 2:
            text = "x" + text.replace('"', "", 1)
        rows = [row for row in csv.reader(text.splitlines(keepends=True)) if row]
        if rows[-1] != ["end"]:
            continue
        table.write_text(text)

        def define() -> Any:
            return (fn.readers.csv(path=str(table), columns=["0"], has_header=False),)

        assert [bytes(t).decode() for (t,) in read(define, len(rows))] == [row[0] for row in rows]


def test_sequences_longer_than_any_folder(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.jpg").write_bytes(b"")
    for length, stride in [(5, 2**62), (2**30, 2**40), (2, 3)]:
        with pytest.raises(GraphError, match="has enough pictures"):
            read(
                lambda length=length, stride=stride: (
                    fn.readers.sequence(
                        file_root=str(tmp_path), sequence_length=length, stride=stride
                    ),
                ),
                1,
            )
