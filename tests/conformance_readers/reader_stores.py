# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""All stores of all readers, and how their samples are known again."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from helpers import Array, Sample, make, same, samples_of
from readers.common import Store
from stoker import Pipeline, fn
from stoker._describe.registry import operators

COUNT = 23  # no multiple of the batch sizes and shard counts that are tried
FOLDER = Path(__file__).resolve().parents[1] / "readers"
ALL = [n for n, op in operators().items() if op["kind"] == "read"]
# How a shuffled order may be made, and none.
SHUFFLES: dict[str, dict[str, Any]] = {
    "in order": {},
    "shuffled": {"random_shuffle": True, "shuffle_by": "sample"},
    "by blocks": {"random_shuffle": True, "shuffle_by": "block", "initial_fill": 5},
}


def module(reader: str) -> ModuleType:
    """The module that makes the reader's stores."""
    name = reader.replace(".", "_")
    assert (FOLDER / f"{name}.py").is_file(), f"{reader} has no tests/readers/{name}.py"
    return importlib.import_module(f"readers.{name}")


@cache
def variants() -> list[tuple[str, str]]:
    """The readers with the names of their stores."""
    return [(reader, variant) for reader in ALL for variant in module(reader).VARIANTS]


def each_store(test: Any) -> Any:
    """Calls a test with the name of each store."""
    ids = [f"{reader}, {variant}" for reader, variant in variants()]
    return pytest.mark.parametrize(("reader", "variant"), variants(), ids=ids)(test)


def store_of(reader: str, variant: str, folder: Path, count: int = COUNT) -> Store:
    """Makes a store in a folder that must be empty."""
    store: Store = module(reader).VARIANTS[variant](folder, count)
    assert len(store.samples) == len(store.files) == count
    return store


def pipe_of(reader: str, store: Store, settings: dict[str, Any], **arguments: Any) -> Pipeline:
    """A pipeline of nothing but the reader."""
    namespace: Any = fn
    for part in reader.split("."):
        namespace = getattr(namespace, part)
    given = {**store.arguments, "name": "reader", **arguments}
    return make(lambda: _outputs(namespace(**given)), **settings)


def _outputs(result: Any) -> Any:
    """The outputs of a reader that returns a dict of them as well."""
    return tuple(result.values()) if isinstance(result, dict) else result


class Known:
    """Finds the index of a sample by its bytes."""

    def __init__(self, samples: Sequence[tuple[Array, ...]]) -> None:
        self._samples = samples
        self._index = {_key(s): i for i, s in enumerate(samples)}
        assert len(self._index) == len(samples), "two samples of the store are equal"

    def index(self, sample: Sample) -> int:
        found = self._index.get(_key(sample))
        assert found is not None, f"no sample of the store is {sample!r}"
        expected = self._samples[found]
        assert all(same(a, b) for a, b in zip(sample, expected, strict=True))
        return found

    def indices(self, samples: Sequence[Sample]) -> list[int]:
        return [self.index(s) for s in samples]


def _key(sample: Sequence[Array]) -> bytes:
    return repr([(str(a.dtype), a.shape, a.tobytes()) for a in sample]).encode()


def steps_of(pipe: Pipeline, count: int) -> list[list[Sample]]:
    """The samples of the next steps."""
    return [samples_of(pipe.run()) for _ in range(count)]
