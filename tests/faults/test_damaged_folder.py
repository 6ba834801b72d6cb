# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A folder with one damaged picture, as users meet it, under each policy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stoker import Pipeline, errors
from trainings import SIZE, in_order, sources


def test_raise_lists_the_samples_and_goes_on(damaged: Path) -> None:
    pipe = in_order(damaged)
    with pytest.raises(errors.SampleError) as caught:
        pipe.run()
    (bad,) = caught.value.samples
    assert Path(bad["source"]).name == "0004.jpg"
    assert (bad["index_in_batch"], bad["operator"]) == (1, "decoders.image")
    assert "trainings.py:" in bad["where"]
    for fact in (bad["source"], bad["where"], bad["message"]):
        assert fact in str(caught.value)
    assert len(pipe.run()[0]) == 4


def test_skip_makes_the_batch_shorter(damaged: Path, tmp_path: Path) -> None:
    pipe = in_order(damaged, on_error="skip")
    assert [len(images) for images, _ in pipe] == [3, 4, 4, 4, 4, 4]
    assert [Path(bad["source"]).name for bad in pipe.quarantine()] == ["0004.jpg"]
    pipe.write_quarantine(tmp_path / "bad.jsonl")
    lines = (tmp_path / "bad.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == pipe.quarantine()
    assert pipe.stats()["failures"] == 1


def test_replace_keeps_the_batch_full(damaged: Path) -> None:
    pipes = [in_order(damaged, on_error="replace", num_threads=n) for n in (1, 3)]
    found = [epoch_names(pipe) for pipe in pipes]
    assert found[0] == found[1]
    assert len(found[0]) == SIZE
    assert "0004.jpg" not in {Path(name).name for name in found[0]}


def epoch_names(pipe: Pipeline) -> list[str]:
    return [name for images, _ in pipe for name in sources(images)]
