# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""States that were cut or edited are taken, or refused with an error that says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import assert_own_words, damaged, nested, nested_text

from helpers import make
from stoker import fn
from stoker.errors import StateError
from stoker.numpy import DALIGenericIterator


def counted(info: Any) -> np.ndarray[Any, Any]:
    if info.iteration >= 5:
        raise StopIteration
    return np.array([info.idx_in_epoch])


def opened(kind: str, pictures: Path, **settings: Any) -> DALIGenericIterator:
    def define() -> Any:
        if kind == "source":
            return fn.external_source(source=counted, name="source", batch=False)
        return fn.readers.file(file_root=pictures, name="reader", random_shuffle=True)[1]

    pipe = make(define, batch_size=2, num_threads=1, prefetch_queue_depth=1, **settings)
    return DALIGenericIterator([pipe], ["x"], reader_name="reader" if kind == "reader" else None)


@pytest.mark.filterwarnings("ignore::UserWarning")  # these edits only warn
@pytest.mark.parametrize("kind", ["reader", "source"])
def test_iterators(kind: str, pictures: Path) -> None:
    iterator = opened(kind, pictures)
    next(iterator)
    state = json.loads(json.dumps(iterator.state_dict()))
    after = next(iterator)[0]["x"].tolist()
    refused = 0
    for other in damaged(state):
        try:
            iterator.load_state_dict(other)
        except StateError as e:
            assert "state" in str(e)
            assert_own_words(e)
            refused += 1
        else:
            next(iterator, None)
    assert refused > 100
    iterator.load_state_dict(state)
    for key in ("version", "pipelines", "iterator"):
        with pytest.raises(StateError, match=key):
            iterator.load_state_dict({**state, key: None})
    assert iterator.state_dict() == state, "what was refused changed nothing"
    assert next(iterator)[0]["x"].tolist() == after


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["reader", "source"])
def test_checkpoints(kind: str, pictures: Path) -> None:
    iterator = opened(kind, pictures)
    next(iterator)
    (text,) = iterator.checkpoints()
    after = next(iterator)[0]["x"].tolist()
    refused = 0
    for other in [*(text[:cut] for cut in range(0, len(text), 40)), *damaged(json.loads(text))]:
        try:
            opened(
                kind, pictures, checkpoint=other if isinstance(other, str) else json.dumps(other)
            )
        except StateError as e:
            assert_own_words(e)
            refused += 1
    assert refused > 100
    assert next(opened(kind, pictures, checkpoint=text))[0]["x"].tolist() == after


@pytest.mark.parametrize("kind", ["reader", "source"])
@pytest.mark.parametrize("levels", [70, 100_000])
def test_nested_too_deep(kind: str, levels: int, pictures: Path) -> None:
    iterator = opened(kind, pictures)
    state = iterator.state_dict()
    text = iterator.checkpoints()[0]
    (pipe,) = iterator._pipelines
    deep_texts = [nested_text(levels), text[:-1] + f', "x": {nested_text(levels)}}}']
    for other in [*deep_texts, {**json.loads(text), "x": nested(levels)}]:
        with pytest.raises(StateError, match=r"deep|texts, numbers, lists") as caught:
            pipe.restore(other)
        assert_own_words(caught.value)
    with pytest.raises(StateError):
        opened(kind, pictures, checkpoint=deep_texts[1])
    for other in (nested(levels), *({**state, key: nested(levels)} for key in state)):
        with pytest.raises(StateError) as caught:
            iterator.load_state_dict(other)
        assert_own_words(caught.value)
    assert iterator.state_dict() == state, "what was refused changed nothing"


def test_texts_that_are_no_utf8(pictures: Path) -> None:
    (pipe,) = opened("reader", pictures)._pipelines
    with pytest.raises(StateError, match="no JSON") as caught:
        pipe.restore("run/caf\udce9" + "\u00e9" * 50)
    assert_own_words(caught.value)
