# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""States: a pipeline goes on where another stopped, under any topology, or says why it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from graphs import merged, training

from helpers import assert_same, epoch, make, take
from stoker import Pipeline, fn, types
from stoker.errors import StateError


@pytest.mark.parametrize("batch_after", [5, 4])
@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
def test_resume_from_every_position(files: list[str], batch_after: int, shuffle: bool) -> None:
    some = files[:23]
    define = training(some, random_shuffle=shuffle)
    whole = take(make(define, batch_size=5), 3 * len(some))
    first = make(define, batch_size=5)
    for k in range(len(some) // 5 + 3):
        resumed = make(define, batch_size=batch_after, num_threads=1)
        resumed.restore(json.loads(json.dumps(first.state())))
        assert_same(take(resumed, 20), whole[5 * k : 5 * k + 20], f"resumed after {k} steps")
        first.run()


@pytest.mark.parametrize("batch_after", [5, 4])
def test_resume_padded_epochs_from_every_position(files: list[str], batch_after: int) -> None:
    some = files[:23]
    define = training(some, random_shuffle=True, pad_last_batch=True)
    stream = take(make(training(some, random_shuffle=True), batch_size=1), 3 * len(some))
    first = make(define, batch_size=5)
    for k in range(2 * (-(-len(some) // 5))):
        e, step = divmod(k, -(-len(some) // 5))
        resumed = make(define, batch_size=batch_after, num_threads=1)
        resumed.restore(first.state())
        got = epoch(resumed)
        rest = stream[e * len(some) + 5 * step : (e + 1) * len(some)]
        fill = -len(rest) % batch_after
        assert_same(got, rest + [rest[-1]] * fill, f"resumed after {k} steps")
        first.run()


@pytest.mark.parametrize("pad", [False, True], ids=["continue", "padded"])
def test_resume_on_another_number_of_shards(files: list[str], pad: bool) -> None:
    some = files[:31]
    n = len(some)
    stream = take(make(training(some, random_shuffle=True), batch_size=1), 3 * n)

    def shard(s: int, count: int, batch: int) -> Pipeline:
        return make(
            training(some, random_shuffle=True, num_shards=count, shard_id=s, pad_last_batch=pad),
            batch_size=batch,
            num_threads=1,
        )

    before = [shard(s, 2, 4) for s in range(2)]
    for k in range(4):
        states = [p.state() for p in before]
        assert states[0] == states[1], "what was dealt is one prefix: one state serves all shards"
        after = [shard(s, 3, 3) for s in range(3)]
        for pipe in after:
            pipe.restore(states[0])
        rest = stream[8 * k : n] if pad else stream[8 * k : 8 * k + 27]
        got = merged(after, -(-len(rest) // 9), n, at=8 * k, pads=pad)
        assert_same(got[: len(rest)], rest, f"2 shards became 3 after {k} steps")
        for pipe in before:
            pipe.run()


def test_a_state_counts_what_was_received(files: list[str]) -> None:
    """Steps that are prepared ahead are no part of a state."""
    states = []
    for depth in (1, 5):
        pipe = make(training(files), batch_size=4, prefetch_queue_depth=depth)
        pipe.schedule_run()
        pipe.outputs()
        pipe.schedule_run()
        pipe.outputs()
        pipe.schedule_run()
        states.append(pipe.state())
    assert states[0] == states[1]
    assert len(json.dumps(states[0])) < 2000


def test_a_drawn_seed_is_part_of_the_state(files: list[str]) -> None:
    first = make(training(files), batch_size=4, seed=None)
    other = make(training(files), batch_size=4, seed=None)
    first.build()
    other.build()
    assert first.seed != other.seed
    first.run()
    other.restore(first.state())
    assert other.seed == first.seed
    assert_same(take(other, 8), take(first, 8), "a drawn seed")


def test_contiguous_shards_go_to_no_other_number(files: list[str]) -> None:
    state = make(training(files, num_shards=2), batch_size=4).state()
    pipe = make(training(files, num_shards=3), batch_size=4)
    with pytest.raises(StateError, match="shards"):
        pipe.restore(state)
    pipe.run()


def test_a_state_of_another_order_is_refused(files: list[str]) -> None:
    state = make(training(files, random_shuffle=True), batch_size=4).state()
    other = make(training(files, random_shuffle=True, seed=9), batch_size=4)
    with pytest.raises(StateError, match="key"):
        other.restore(state)
    with pytest.warns(UserWarning, match="key"):
        other.restore(state, force=True)
    fewer = make(training(files[:-1], random_shuffle=True), batch_size=4)
    with pytest.raises(StateError, match="size"):
        fewer.restore(state)
    relabelled = training(files, random_shuffle=True, labels=[0] * len(files))
    with pytest.raises(StateError, match="other files"):
        make(relabelled, batch_size=4).restore(state)


def test_a_state_of_other_chance_is_refused(files: list[str]) -> None:
    state = make(training(files), batch_size=4).state()

    def edited() -> Any:
        encoded, label = fn.readers.file(files=files, name="reader")
        return [label, fn.random_resized_crop(fn.decoders.image(encoded), size=[8, 8], seed=1)]

    with pytest.raises(StateError):
        make(edited, batch_size=4).restore(state)


def test_other_edits_warn(files: list[str]) -> None:
    def one() -> Any:
        _, label = fn.readers.file(files=files, name="reader")
        return label

    def two() -> Any:
        _, label = fn.readers.file(files=files, name="reader")
        return fn.cast(label, dtype=types.FLOAT)

    state = make(one, batch_size=4).state()
    pipe = make(two, batch_size=4)
    with pytest.warns(UserWarning, match="edited") as caught:
        pipe.restore(state)
    begun = make(two, batch_size=4, checkpoint=state)
    with pytest.warns(UserWarning, match="edited") as at_build:
        begun.build()
    assert {w.filename for w in [*caught, *at_build]} == {__file__}


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "x"}', "null", "nonsense"])
def test_damaged_states_are_refused(files: list[str], text: str) -> None:
    pipe = make(training(files), batch_size=4)
    with pytest.raises(StateError):
        pipe.restore(text)
    assert len(take(pipe, 4)) == 4


def test_checkpoint_argument(files: list[str], tmp_path: Path) -> None:
    first = make(training(files), batch_size=4)
    first.run()
    text = first.checkpoint(tmp_path / "state.json")
    assert (tmp_path / "state.json").read_text() == text
    second = make(training(files), batch_size=4, checkpoint=text)
    assert_same(take(second, 4), take(first, 4), "checkpoint=")


def test_a_wrong_checkpoint_is_refused_each_time(files: list[str]) -> None:
    pipe = make(training(files), batch_size=4, checkpoint="{}")
    for _ in range(2):
        with pytest.raises(StateError, match="Pipeline: argument 'checkpoint': "):
            pipe.run()
