# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Conditionals on nodes: `if`, `a if c else b`, `and`, `or`, `not`, `split` and `merge`.

What each sample should be is worked out by the same statements on its NumPy arrays.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import jpegs
import stoker
from helpers import Array, assert_same, samples_of, take
from stoker import DataNode, Pipeline, fn, pipeline_def, types
from stoker.errors import GraphError

STEPS = 3
TOPOLOGIES = [
    {"num_threads": threads, "batch_size": size, "prefetch_queue_depth": depth, **executor}
    for threads, size, depth in ((1, 12, 2), (2, 4, 1), (3, 6, 3))
    for executor in ({}, {"exec_pipelined": False, "exec_async": False})
]


def pipe_of(define: Callable[[], Any], **settings: Any) -> Pipeline:
    given = {"batch_size": 12, "num_threads": 2, "seed": 5, "enable_conditionals": True}
    return pipeline_def(**{**given, **settings})(define)()


def runs(define: Callable[[], Any], **settings: Any) -> list[tuple[Array, ...]]:
    """The samples of some steps, by sample."""
    pipe = pipe_of(define, **settings)
    found = []
    for _ in range(STEPS):
        batches = [batch.as_cpu() for batch in pipe.run()]
        found += list(zip(*[[np.array(x) for x in batch] for batch in batches], strict=True))
    return found


def flips(count: int) -> list[DataNode]:
    return [fn.random.coin_flip() for _ in range(count)]


def picture() -> DataNode:
    return fn.random.uniform(range=(0.0, 1.0), shape=[6, 8, 3])


def crop(x: DataNode, size: int) -> DataNode:
    return fn.crop(x, crop=(size, size))


def cropped(x: Array, size: int) -> Array:
    top, left = (6 - size) // 2, (8 - size) // 2
    return x[top : top + size, left : left + size]


# What each statement means


def nested() -> Any:
    x = picture()
    a, b = flips(2)
    y = x
    if a:
        y = fn.flip(y, horizontal=1)
        if b:
            y = fn.flip(y, horizontal=0, vertical=1)
    elif b:
        y = fn.flip(y, horizontal=1, vertical=1)
    return x, a, b, y


def nested_expected(x: Array, a: Array, b: Array) -> Array:
    if a:
        return x[::-1, ::-1] if b else x[:, ::-1]
    return x[::-1, ::-1] if b else x


def with_returns() -> Any:
    x = picture()
    a, b = flips(2)
    if a:
        return x, a, b, fn.flip(x, horizontal=1)
    y = fn.flip(x, horizontal=0, vertical=1)
    if not b:
        return x, a, b, y
    return x, a, b, fn.flip(y, horizontal=1)


def with_returns_expected(x: Array, a: Array, b: Array) -> Array:
    if a:
        return x[:, ::-1]
    return x[::-1, ::-1] if b else x[::-1]


def expressions() -> Any:
    x = picture()
    a, b = flips(2)
    return x, a, b, fn.flip(x, horizontal=1) if (a and not b) or (b and not a) else x


def expressions_expected(x: Array, a: Array, b: Array) -> Array:
    return x[:, ::-1] if bool(a) != bool(b) else x


def by_functions() -> Any:
    x = picture()
    a, b = flips(2)
    there, elsewhere = stoker.split(x, a)
    y = fn.flip(there, horizontal=1)
    z = fn.merge(y, elsewhere, a)
    return x, a, b, fn.merge(fn.flip(z, horizontal=1), z, b)


def by_functions_expected(x: Array, a: Array, b: Array) -> Array:
    return x[:, ::-1] if bool(a) != bool(b) else x


def by_helper() -> Any:
    x = picture()
    a, b = flips(2)
    return x, a, b, turned(x, a) if b else x


def turned(x: DataNode, a: DataNode) -> DataNode:
    how = {"horizontal": 1, "vertical": 0}
    if a:
        x = fn.flip(x, **how)
    else:
        how = {"horizontal": 0, "vertical": 1}
        x = fn.flip(x, **how)
    return x


def by_helper_expected(x: Array, a: Array, b: Array) -> Array:
    return (x[:, ::-1] if a else x[::-1]) if b else x


def of_shapes() -> Any:
    x = picture()
    a, b = flips(2)
    y = crop(x, 4) if a else (crop(x, 2) if b else x)
    return x, a, b, y


def of_shapes_expected(x: Array, a: Array, b: Array) -> Array:
    return cropped(x, 4) if a else cropped(x, 2) if b else x


class Meaning(NamedTuple):
    define: Callable[[], Any]
    expected: Callable[[Array, Array, Array], Array]


MEANINGS = [
    Meaning(nested, nested_expected),
    Meaning(with_returns, with_returns_expected),
    Meaning(expressions, expressions_expected),
    Meaning(by_functions, by_functions_expected),
    Meaning(by_helper, by_helper_expected),
    Meaning(of_shapes, of_shapes_expected),
]


@pytest.mark.parametrize("meaning", MEANINGS, ids=lambda m: m.define.__name__)
def test_each_sample_is_what_the_statements_say(meaning: Meaning) -> None:
    seen = set()
    for x, a, b, y in runs(meaning.define):
        np.testing.assert_array_equal(y, meaning.expected(x, a, b))
        seen.add((int(a), int(b)))
    assert len(seen) == 4


@pytest.mark.parametrize("meaning", MEANINGS, ids=lambda m: m.define.__name__)
def test_topologies_agree(meaning: Meaning) -> None:
    expected = take(pipe_of(meaning.define), 24)
    for topology in TOPOLOGIES:
        assert_same(take(pipe_of(meaning.define, **topology), 24), expected, str(topology))


def on_device() -> Any:
    x = picture().gpu()
    a, b = flips(2)
    y = x
    if a:
        y = fn.flip(y, horizontal=1)
        if b:
            y = crop(fn.gaussian_blur(y, window_size=3), 4)
    elif b:
        y = crop(picture(), 3)  # on the CPU: the merge takes it to the device
    return x, a, b, y


def test_a_device_makes_what_the_cpu_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    pipe = pipe_of(on_device, device_id=0)
    assert [batch.device for batch in pipe.run()][3] == "simulated:0"
    seen = set()
    for x, a, b, y in runs(on_device, device_id=0):
        seen.add((int(a), int(b)))
        if a and not b:
            np.testing.assert_array_equal(y, x[:, ::-1])
        assert y.shape == ((4, 4, 3) if a and b else (3, 3, 3) if b else (6, 8, 3))
    assert len(seen) == 4


def test_a_condition_may_be_made_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")

    def define() -> Any:
        x = picture()
        a = fn.random.coin_flip(device="gpu")
        return x, a, fn.flip(x, horizontal=1) if a else x

    for x, a, y in runs(define, device_id=0):
        np.testing.assert_array_equal(y, x[:, ::-1] if a else x)
    assert pipe_of(define, device_id=0).run()[2].device == "cpu"


def test_conditions_may_be_merged_themselves() -> None:
    def define() -> Any:
        x = picture()
        a, b = flips(2)
        c = b if a else fn.random.coin_flip(probability=1.0)
        y = x
        if c:
            y = fn.flip(x, horizontal=1)
            if c and not a:
                y = crop(y, 4)
        return x, a, b, y

    for x, a, b, y in runs(define):
        flipped = x[:, ::-1] if b or not a else x
        np.testing.assert_array_equal(y, flipped if a else cropped(flipped, 4))


def test_a_branch_may_ask_for_its_own_condition() -> None:
    def define() -> Any:
        x = picture()
        a, b = flips(2)
        y = z = x
        if a:
            y = turned(x, a)
            there, nowhere = stoker.split(x, a)
            z = fn.merge(fn.flip(there, horizontal=1), crop(nowhere, 2), a)
        return x, a, b, y, z

    for x, a, _, y, z in runs(define):
        np.testing.assert_array_equal(y, x[:, ::-1] if a else x)
        np.testing.assert_array_equal(z, y)


def test_a_decoder_for_a_device_reads_what_was_merged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    sizes = {f"{k % 2}/{k:02}.jpg": (16 + 8 * (k % 3), 24) for k in range(9)}
    pictures = {name: jpegs.encode(jpegs.picture(*s, 1), "420") for name, s in sizes.items()}
    folder = str(jpegs.write_folder(tmp_path / "pictures", pictures))

    def define(device: str = "mixed") -> Any:
        first, label = fn.readers.file(file_root=folder, random_shuffle=True, seed=1)
        (a,) = flips(1)
        if a:
            encoded, other = fn.readers.file(file_root=folder)
        else:
            encoded, other = first, label
        return a, label, other, fn.decoders.image(encoded, device=device)

    made = runs(define, device_id=0)
    assert {bool(a) for a, *_ in made} == {True, False}
    for k, (a, label, other, _) in enumerate(made):
        # The second reader goes on for all samples: nine files, in order.
        assert other == (sorted(int(n[0]) for n in sizes)[k % 9] if a else label)
    for one, two in zip(made, runs(lambda: define("cpu")), strict=True):
        np.testing.assert_array_equal(one[3], two[3])


def test_a_picture_for_a_device_may_be_the_other_side(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    files = {f"a/{k}.jpg": jpegs.encode(jpegs.picture(8, 8, k), "420") for k in range(5)}
    folder = str(jpegs.write_folder(tmp_path / "pictures", files))

    def define() -> Any:
        encoded, _ = fn.readers.file(file_root=folder)
        (a,) = flips(1)
        picture = fn.decoders.image(encoded, device="mixed")  # in no branch
        return a, fn.decoders.image(encoded), picture if a else np.zeros((8, 8, 3), np.uint8)

    for a, picture, y in runs(define, device_id=0):
        np.testing.assert_array_equal(y, picture if a else 0 * picture)


def test_frames_of_sequences_have_branches_of_their_sample() -> None:
    frames = [np.arange(3 * 4 * 4, dtype=np.uint8).reshape(3, 4, 4, 1) + k for k in range(12)]
    turns = [np.array([0, 1, k % 2], np.int32) for k in range(12)]

    def define() -> Any:
        x = fn.external_source(source=lambda _: frames, layout="FHWC")
        turn = fn.per_frame(fn.external_source(source=lambda _: turns))
        (a,) = flips(1)
        return x, turn, a, fn.flip(x, horizontal=turn) if a else fn.crop(x, crop=(2, 3))

    for x, turn, a, y in runs(define):
        turned = [f[:, ::-1] if t else f for f, t in zip(x, turn, strict=True)]
        np.testing.assert_array_equal(y, np.stack(turned) if a else x[:, 1:3, 1:4])


def test_a_state_is_taken_up_at_every_step() -> None:
    expected = take(pipe_of(nested), 36)
    for step in range(3):
        pipe = pipe_of(nested)
        for _ in range(step):
            pipe.run()
        other = pipe_of(nested, batch_size=6)
        other.restore(pipe.state())
        assert_same(take(other, 12), expected[12 * step : 12 * step + 12], f"step {step}")


def test_saved_pipelines_have_their_conditions() -> None:
    pipe = pipe_of(nested)
    copy = Pipeline.deserialize(pipe.serialize())
    assert_same(take(copy, 24), take(pipe_of(nested), 24), "saved")


# Names


def test_several_names_and_lists_are_merged() -> None:
    def define() -> Any:
        x = picture()
        (a,) = flips(1)
        n, pair, table = 1, [x, x], {"k": x}
        if a:
            n, pair = 2, [fn.flip(x, horizontal=1), x]
            table = {"k": pair[0]}
        return x, a, n, *pair, table["k"]

    for x, a, n, first, second, third in runs(define):
        assert n == (2 if a else 1) and n.dtype == np.int32
        np.testing.assert_array_equal(first, x[:, ::-1] if a else x)
        np.testing.assert_array_equal(second, x)
        np.testing.assert_array_equal(third, first)


def test_a_merge_that_is_returned_twice_is_copied() -> None:
    def define() -> Any:
        x = picture()
        (a,) = flips(1)
        y = fn.flip(x, horizontal=1) if a else x
        return x, y, y

    batches = pipe_of(define).run()
    for k in range(12):
        parts = [np.asarray(batch[k]) for batch in batches]
        assert not any(np.shares_memory(p, q) for i, p in enumerate(parts) for q in parts[i + 1 :])


def test_a_name_without_a_value_fails_where_it_is_used() -> None:
    def unused() -> Any:
        (a,) = flips(1)
        if a:
            y = picture()
            del y
        return a

    assert len(runs(unused)) == 36

    def used() -> Any:
        (a,) = flips(1)
        if a:
            y = picture()
        return fn.flip(y)

    with pytest.raises(GraphError, match=r"'y' has no value on one side.*test_conditionals.py:"):
        pipe_of(used)

    def returned() -> Any:
        (a,) = flips(1)
        if a:
            y = picture()
        return a, y

    with pytest.raises(GraphError, match="'y' has no value on one side"):
        pipe_of(returned)


def test_names_that_are_not_used_afterwards_may_differ() -> None:
    def define() -> Any:
        x = picture()
        (a,) = flips(1)
        if a:
            part, y = fn.cast(x, dtype=types.UINT8), fn.copy(x)
        else:
            part, y = crop(x, 3), fn.random.uniform(shape=[6, 8, 3])
        part = fn.cast(part, dtype=types.INT32)
        return a, x, y, fn.copy(a)

    for a, x, y, _ in runs(define):
        assert np.array_equal(x, y) == bool(a)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda x: fn.cast(x, dtype=types.UINT8), "same dtype.*uint8.*float32"),
        (lambda x: fn.random.uniform(shape=[4]), "same dtype, number of axes"),
        (lambda x: "text", "two values.*type str and one of type DataNode"),
    ],
)
def test_sides_that_differ_are_refused(other: Callable[[DataNode], Any], message: str) -> None:
    def define() -> Any:
        x = picture()
        (a,) = flips(1)
        y = other(x) if a else x
        return fn.copy(y)

    with pytest.raises(GraphError, match=message):
        pipe_of(define).build()


def test_what_cannot_be_on_a_node_is_refused() -> None:
    def in_a_loop() -> Any:
        (a,) = flips(1)
        for _ in range(3):
            if a:
                break
        return a

    with pytest.raises(GraphError, match="takes no `break` or `continue`"):
        pipe_of(in_a_loop)

    def out_of_a_loop() -> Any:
        (a,) = flips(1)
        for _ in range(3):
            if a:
                return a
        return a

    with pytest.raises(GraphError, match="takes no `return` out of a loop"):
        pipe_of(out_of_a_loop)

    def a_while() -> Any:
        (a,) = flips(1)
        while a:
            pass
        return a

    with pytest.raises(GraphError, match="nothing lets it decide a `while`"):
        pipe_of(a_while)

    with pytest.raises(GraphError, match="enable_conditionals=True"):
        pipe_of(nested, enable_conditionals=False)

    def pictures() -> Any:
        return picture() if fn.random.coin_flip(shape=[2]) else fn.copy(picture())

    with pytest.raises(GraphError, match="a condition expects one number"):
        pipe_of(pictures).build()

    def both_sides() -> Any:
        (a,) = flips(1)
        return fn.cat(*stoker.split(picture(), a))

    with pytest.raises(GraphError, match="both sides of the condition"):
        pipe_of(both_sides)

    def one_side() -> Any:
        (a,) = flips(1)
        return stoker.split(picture(), a)[0]

    with pytest.raises(GraphError, match="is made only where 'random_coin_flip_0' is true"):
        pipe_of(one_side).build()


# Python's own conditionals stay as they are


class Counted:
    def __init__(self, truth: bool) -> None:
        self.truth, self.asked = truth, 0

    def __bool__(self) -> bool:
        self.asked += 1
        return self.truth

    def __private(self, x: int) -> int:
        return x + 1 if self else x

    def total(self, values: list[int]) -> int:
        result = 0
        for value in values:
            if value < 0:
                continue
            if value > 90:
                return self.__private(result)
            result += value if value % 2 or not value else 0
        else:
            result += 1000
        return result


def python_conditionals(log: list[Any], *, flag: bool = True) -> Any:
    def inner(x: int) -> Any:
        nonlocal count
        if x:
            count += 1
            return [y for y in range(x) if y and y % 2]
        return None

    count = 0
    counted = Counted(flag)
    if counted:
        only = "here"
        log.append(only)
    log += [inner(4), inner(0), count, counted.asked, counted and 1, (not counted) or "x"]
    log += [counted.total([1, 2, 3]), counted.total([1, 2, 95])]
    if (found := len(log)) > 3 and flag:
        log.append(found)
    return fn.constant(fdata=[1.0])


@pytest.mark.parametrize("flag", [True, False])
def test_conditionals_on_python_values_mean_what_they_mean(flag: bool) -> None:
    plain: list[Any] = []
    rewritten: list[Any] = []
    settings = {"batch_size": 1, "num_threads": 1}
    pipeline_def(**settings)(python_conditionals)(plain, flag=flag)
    pipeline_def(**settings, enable_conditionals=True)(python_conditionals)(rewritten, flag=flag)
    assert [repr(x) for x in plain if not isinstance(x, Counted)] == [
        repr(x) for x in rewritten if not isinstance(x, Counted)
    ]


def test_functions_can_stay_as_they_are() -> None:
    @stoker.do_not_convert
    def helper(a: DataNode) -> Any:
        return 1 if a else 2

    def define() -> Any:
        return helper(fn.random.coin_flip())

    with pytest.raises(GraphError, match="has no value while the pipeline is being defined"):
        pipe_of(define)


# Chance


def keys_of(define: Callable[[], Any], **settings: Any) -> dict[str, str]:
    nodes = json.loads(pipe_of(define, **settings).serialize())["nodes"]
    return {n["name"]: n["key"] for n in nodes if n["op"].startswith("random.")}


def test_a_draw_in_a_branch_or_a_helper_moves_no_other() -> None:
    def before() -> Any:
        a = fn.random.coin_flip()
        y = 1.0
        if a:
            y = fn.random.uniform()
        return a, y, helper(1), fn.random.uniform(), fn.random.coin_flip()

    def helper(draws: int) -> Any:
        return [fn.random.uniform() for _ in range(draws)][-1]

    def after() -> Any:
        a = fn.random.coin_flip()
        y = 1.0
        if a:
            fn.random.coin_flip()
            y = fn.random.uniform()
            fn.random.uniform()
        return a, y, [helper(3), helper(2)][1], fn.random.uniform(), fn.random.coin_flip()

    old, new = runs(before), runs(after)
    for k in (0, 1, 3, 4):
        for x, y in zip(old, new, strict=True):
            np.testing.assert_array_equal(x[k], y[k])
    keys = set(keys_of(after).values())
    assert {
        "random.coin_flip#0",
        "if#0.true/random.uniform#0",
        "helper#0/random.uniform#2",
        "helper#1/random.uniform#0",
        "random.uniform#0",
    } <= keys
    assert len(keys) == len(keys_of(after))


def test_scopes_do_not_depend_on_conditionals() -> None:
    def define() -> Any:
        return [fn.random.uniform() for _ in range(2)] + [turned_by_chance()]

    def turned_by_chance() -> DataNode:
        return fn.random.uniform()

    expected = ["random.uniform#0", "random.uniform#1", "turned_by_chance#0/random.uniform#0"]
    for enabled in (True, False):
        assert list(keys_of(define, enable_conditionals=enabled).values()) == expected
    pipe = Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(*define())
    nodes = json.loads(pipe.serialize())["nodes"]
    assert [n["key"].removeprefix("define#0/") for n in nodes] == expected


def test_scopes_of_all_kinds_of_functions() -> None:
    class Kind:
        def __init__(self) -> None:
            self.start = fn.random.uniform()

        def __call__(self) -> Any:
            return self.method()

        def method(self) -> Any:
            return fn.random.uniform()

    def recursive(depth: int) -> Any:
        return [fn.random.uniform(), *(recursive(depth - 1) if depth else [])]

    def generator() -> Any:
        yield fn.random.uniform()
        yield fn.random.uniform()

    def wrapped(function: Callable[[], Any]) -> Callable[[], Any]:
        @functools.wraps(function)
        def wrapper() -> Any:
            return fn.random.uniform(), function()

        return wrapper

    @wrapped
    def decorated() -> Any:
        return fn.random.uniform()

    def define() -> Any:
        kind = Kind()
        made = [kind.start, kind(), *recursive(1), *generator(), *decorated()]
        names: dict[str, Any] = {"fn": fn}
        exec("def made_of_text():\n return fn.random.uniform()", names)
        made += [names["made_of_text"](), (lambda: fn.random.uniform())()]
        return [*made, *map(lambda _: fn.random.uniform(), range(1))]  # noqa: C417

    expected = [
        "__init__#0/random.uniform#0",
        "__call__#0/method#0/random.uniform#0",
        "recursive#0/random.uniform#0",
        "recursive#0/recursive#0/random.uniform#0",
        "generator#0/random.uniform#0",
        "generator#0/random.uniform#1",
        "wrapper#0/random.uniform#0",
        "wrapper#0/decorated#0/random.uniform#0",
        "made_of_text#0/random.uniform#0",
        "random.uniform#0",
        "random.uniform#1",
    ]
    for enabled in (True, False):
        assert list(keys_of(define, enable_conditionals=enabled).values()) == expected


# Bad samples


@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_a_damaged_file_is_bad_only_where_it_is_decoded(on_error: str, tmp_path: Path) -> None:
    files = {f"a/{k}.jpg": jpegs.encode(jpegs.picture(8, 8, k), "420") for k in range(8)}
    files["a/5.jpg"] = b"no picture"
    folder = str(jpegs.write_folder(tmp_path / "pictures", files))

    def define() -> Any:
        encoded, _ = fn.readers.file(file_root=folder)
        (a,) = flips(1)
        if a:
            picture = fn.decoders.image(encoded)
        else:
            picture = fn.constant(idata=[0], shape=[8, 8, 3], dtype=types.UINT8, layout="HWC")
        return a, picture, fn.copy(encoded)

    pipe = pipe_of(define, on_error=on_error, batch_size=8)
    bad = b"no picture"
    fates = set()
    for _ in range(12):
        made = samples_of(pipe.run())
        kept = [bool(a) for a, _, encoded in made if encoded.tobytes() == bad]
        assert not any(kept)
        fates.add(len(kept))
        assert len(made) == 8 or on_error == "skip"
    assert fates == {0, 1}  # lost where it was to be decoded, kept where it was not


def test_a_sample_that_fails_in_its_branch_is_bad_only_there() -> None:
    sizes = [np.array([4 + k % 4] * 2, np.float32) for k in range(12)]

    def define() -> Any:
        size = fn.external_source(source=lambda _: sizes, batch=True)
        x = picture()
        (a,) = flips(1)
        y = fn.crop(x, crop=size) if a else x
        return a, y, size

    pipe = pipe_of(define, on_error="skip")
    made = [sample for _ in range(STEPS) for sample in samples_of(pipe.run())]
    assert len(made) < 12 * STEPS  # a crop of 7 rows reaches outside
    assert {bool(a) for a, _, size in made if size[0] < 7} == {True, False}
    assert {bool(a) for a, _, size in made if size[0] == 7} == {False}
