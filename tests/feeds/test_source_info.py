# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The name of what a sample was read from: on batches, and for operators by fn.get_property."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from helpers import SIMPLE, make
from stoker import DataNode, fn, types


def name_of(node: DataNode) -> Any:
    return fn.get_property(node, key="source_info")


@pytest.mark.parametrize("settings", [{}, SIMPLE])
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_of_each_reader(
    files: list[str], device: str, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    given = {"device_id": 0} if device == "gpu" else {}

    def define() -> Any:
        first, label = fn.readers.file(files=files[:6], random_shuffle=True, lead=True)
        second, _ = fn.readers.file(files=files[6:11])
        image = fn.resize(fn.decoders.image(second), size=[8, 8])
        nodes = [label, image, fn.cat(image, fn.resize(fn.decoders.image(first), size=[8, 8]))]
        if device == "gpu":
            nodes = [node.gpu() for node in nodes]
        return first, *nodes, *[name_of(n) for n in nodes], fn.random.coin_flip()

    pipe = make(define, batch_size=4, **settings, **given)
    for _ in range(3):
        first, *nodes, coin = (b.as_cpu() for b in pipe.run())
        values, names = nodes[:3], nodes[3:]
        for i in range(4):
            with open(first.source_info(i), "rb") as file:
                assert np.array(first[i]).tobytes() == file.read()
            read = [v.source_info(i) for v in values]
            assert [np.array(n[i]).tobytes() for n in names] == [os.fsencode(r) for r in read]
            assert read[0] == first.source_info(i) and read[0] in files[:6]
            assert read[1] == read[2] and read[1] in files[6:11]
            assert coin.source_info(i) == first.source_info(i)


def test_of_what_is_fed(files: list[str]) -> None:
    (encoded,) = make(lambda: fn.readers.file(files=files[:3])[0], batch_size=3).run()

    def define() -> Any:
        fed = fn.external_source(name="fed")
        return fed, name_of(fed)

    pipe = make(define, batch_size=3)
    for given in (list(encoded), [np.zeros(2, np.uint8), encoded[1]]):
        pipe.feed_input("fed", given)
        fed, names = pipe.run()
        for i, sample in enumerate(given):
            expected = getattr(sample, "source_info", "")
            assert fed.source_info(i) == fed[i].source_info == expected
            assert np.array(names[i]).tobytes() == os.fsencode(expected)


PASTES: dict[str, Any] = {
    "inputs": (lambda a, b: fn.multi_paste(a, b), lambda a, b, i: [a[i], b[i]]),
    "one_input": (lambda a, b: fn.multi_paste(a), lambda a, b, i: [a[i]]),
    "samples": (lambda a, b: fn.multi_paste(a, in_ids=[2, 0]), lambda a, b, i: [a[2], a[0]]),
    "none": (lambda a, b: fn.multi_paste(a, in_ids=[], output_size=[1, 1]), lambda a, b, i: []),
    "turned_round": (lambda a, b: fn.multi_paste(fn.flip(b), a), lambda a, b, i: [b[i], a[i]]),
    "of_pasted": (
        lambda a, b: fn.multi_paste(fn.flip(fn.multi_paste(a, in_ids=[1, 1])), b),
        lambda a, b, i: [a[1], a[1], b[i]],
    ),
    "moved": (
        lambda a, b: fn.permute_batch(a, indices=[2, 0, 0]),
        lambda a, b, i: [a[(2, 0, 0)[i]]],
    ),
    "moved_to_all": (lambda a, b: fn.permute_batch(b, indices=1), lambda a, b, i: [b[1]]),
    "of_moved": (
        lambda a, b: fn.multi_paste(fn.permute_batch(fn.flip(a), indices=[1, 2, 0]), b),
        lambda a, b, i: [a[(i + 1) % 3], b[i]],
    ),
    "moved_as_computed": (
        lambda a, b: fn.permute_batch(b, indices=fn.batch_permutation()),
        lambda a, b, i: None,
    ),
    "computed": (
        lambda a, b: fn.multi_paste(b, in_ids=fn.batch_permutation()),
        lambda a, b, i: None,
    ),
}


@pytest.mark.parametrize("settings", [{}, SIMPLE])
@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("paste", PASTES)
def test_of_what_is_pasted(
    paste: str,
    files: list[str],
    device: str,
    settings: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    given = {"device_id": 0} if device == "gpu" else {}
    paste_of, parts_of = PASTES[paste]

    def define() -> Any:
        read = [fn.readers.file(files=f, random_shuffle=True)[0] for f in (files[:6], files[6:])]
        a, b = (fn.resize(fn.decoders.image(r), size=[4, 4]) for r in read)
        on = (a.gpu(), b.gpu()) if device == "gpu" else (a, b)
        pasted = paste_of(*on)
        return a, b, pasted, name_of(fn.flip(pasted)), fn.random.uniform()

    pipe = make(define, batch_size=3, **settings, **given)
    for _ in range(3):
        a, b, pasted, names, _ = (batch.as_cpu() for batch in pipe.run())
        a, b = ([batch.source_info(i) for i in range(3)] for batch in (a, b))
        for i in range(3):
            parts = parts_of(a, b, i)
            got = pasted.source_info(i)
            assert np.array(names[i]).tobytes() == os.fsencode(got)
            if parts is None:
                assert len(got.split(";")) >= 1 and set(got.split(";")) <= set(b)
            else:
                assert got == pasted[i].source_info == ";".join(parts)


def test_what_is_pasted_draws_as_before(files: list[str]) -> None:
    def define() -> Any:
        image = fn.resize(fn.decoders.image(fn.readers.file(files=files)[0]), size=[2, 2])
        pasted = fn.multi_paste(image, in_ids=[1, 0])
        return fn.random.uniform(pasted, seed=5), fn.random.uniform(image, seed=5)

    for of_pasted, own in (make(define, batch_size=3).run() for _ in range(2)):
        np.testing.assert_array_equal(of_pasted.as_array(), own.as_array())


def test_batches_keep_their_names(files: list[str]) -> None:
    def define() -> Any:
        image = fn.resize(fn.decoders.image(fn.readers.file(files=files)[0]), size=[2, 2])
        return fn.multi_paste(image, in_ids=[1, 0])

    pipe = make(define, batch_size=2)
    kept = [pipe.run()[0] for _ in range(4)]
    pipe.close()
    for k, batch in enumerate(kept):
        names = f"{files[2 * k + 1]};{files[2 * k]}"
        assert [batch.source_info(i) for i in range(2)] == [names, names]


def test_what_has_no_name_has_no_part_in_one(files: list[str]) -> None:
    def define() -> Any:
        image = fn.resize(fn.decoders.image(fn.readers.file(files=files)[0]), size=[2, 2])
        grey = fn.constant(idata=[7], shape=[2, 2, 3], layout="HWC", dtype=types.UINT8)
        return fn.multi_paste(grey, image), fn.multi_paste(image, grey), fn.multi_paste(grey, grey)

    first, second, unnamed = make(define, batch_size=2).run()
    for i in range(2):
        assert first.source_info(i) == second.source_info(i) == files[i]
        assert ";" not in unnamed.source_info(i)
