# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The name of what a sample was read from: on batches, and for operators by fn.get_property."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from helpers import SIMPLE, make
from stoker import DataNode, fn


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
