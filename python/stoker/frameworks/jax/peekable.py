# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The JAX iterator for the Common Loop Utils (CLU), which peek and save the iterator's state."""

from __future__ import annotations

import json
import os
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import jax

from stoker.frameworks._peekable import Peekable
from stoker.frameworks.jax.iterators import DALIGenericIterator


class DALIGenericPeekableIterator(Peekable, DALIGenericIterator):
    """A ``DALIGenericIterator`` with ``peek()``, ``element_spec``, ``save()`` and ``restore()``.

    Raises ``ValueError`` if a step differs from the first one in shapes or types.
    """

    _spec: dict[str, jax.ShapeDtypeStruct] | None = None

    @property
    def element_spec(self) -> dict[str, jax.ShapeDtypeStruct]:
        """The shape and type of each output of a step. Makes the next step to learn them."""
        if self._spec is None:
            self.peek()
        assert self._spec is not None
        return self._spec

    def peek_async(self) -> Future[Any]:
        """Runs ``peek()`` in another thread. The iterator must not be used until it is done."""
        once = ThreadPoolExecutor(1)
        future = once.submit(self.peek)
        once.shutdown(wait=False)
        return future

    def save(self, filename: str | os.PathLike[str]) -> None:
        """Writes ``state_dict()`` to a file as JSON."""
        with open(filename, "w", encoding="utf-8") as file:
            json.dump(self.state_dict(), file)

    def restore(self, filename: str | os.PathLike[str]) -> None:
        """Continues where ``save()`` was called; see ``load_state_dict()``."""
        with open(filename, encoding="utf-8") as file:
            self.load_state_dict(json.load(file))

    def _arranged(self, dicts: list[dict[str, Any]]) -> Any:
        step = super()._arranged(dicts)
        spec = {k: jax.ShapeDtypeStruct(v.shape, v.dtype) for k, v in step.items()}
        if self._spec is None:
            self._spec = spec
        elif self._spec != spec:
            raise ValueError(f"all steps must be of one shape and type: {self._spec}, now {spec}")
        return step
