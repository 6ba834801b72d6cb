# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""States that were cut or edited are taken, or refused with an error that says why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import make
from stoker import fn
from stoker.errors import StateError
from stoker.numpy import DALIGenericIterator

WRONG = (None, "text", -1, 3.5, [], {}, True, 10**30)


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


def damaged(state: Any) -> Iterator[Any]:
    """The state with one of its entries missing, added, or of another type."""
    if isinstance(state, dict):
        for key in state:
            yield {k: v for k, v in state.items() if k != key}
            for other in damaged(state[key]):
                yield {**state, key: other}
    elif isinstance(state, list):
        yield [*state, *state]
        for i in range(len(state)):
            for other in damaged(state[i]):
                yield [*state[:i], other, *state[i + 1 :]]
    yield from (wrong for wrong in WRONG if type(wrong) is not type(state))


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
        except StateError:
            refused += 1
    assert refused > 100
    assert next(opened(kind, pictures, checkpoint=text))[0]["x"].tolist() == after
