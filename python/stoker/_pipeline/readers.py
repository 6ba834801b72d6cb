# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What a pipeline says of its readers and of itself."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from typing import Any

from stoker import _core
from stoker._describe.registry import operators


class Facts(ABC):
    """What ``Pipeline`` inherits: questions to the engine. Not thread-safe."""

    def reader_meta(self, name: str | None = None) -> dict[str, Any]:
        """What a reader knows of its data: ``epoch_size``, ``epoch_size_padded``,
        ``number_of_shards``, ``shard_id``, …

        Without a name: a dict of all readers. Raises ``GraphError`` when no reader has that name.
        """
        engine = self._built()
        if name is not None:
            return engine.reader_meta(name)
        return {reader: engine.reader_meta(reader) for reader in self._readers()}

    def epoch_size(self, name: str | None = None) -> Any:
        """Samples in a reader's epoch, padding included where it pads; without a name: a dict of
        all readers.
        """
        if name is not None:
            return self.reader_meta(name)["epoch_size_padded"]
        return {reader: meta["epoch_size_padded"] for reader, meta in self.reader_meta().items()}

    def steps_left(self) -> int:
        """Steps to the end of this epoch."""
        return self._built().steps_left()

    def stats(self) -> dict[str, Any]:
        """Rates, waits and memory, the time of every operator, and who decodes for a device."""
        return self._built().stats()

    def plan(self) -> str:
        """In words: the stages that run and what was rewritten."""
        return self._built().plan()

    def quarantine(self) -> list[dict[str, Any]]:
        """The samples found damaged so far: file, offset, operator, message.

        One entry for each, of its last failure; ``times`` counts them.
        """
        return self._built().quarantine()

    def write_quarantine(self, path: str | os.PathLike[str]) -> None:
        """Writes ``quarantine()`` as one JSON object per line."""
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(entry) + "\n" for entry in self.quarantine())

    def trim(self) -> None:
        """Gives unused memory back to the system."""
        self._built().trim()

    @property
    def lead_reader(self) -> str | None:
        """The reader whose samples make the epoch; None without a reader that feeds an output."""
        orders = self._orders()
        readers = [name for name in self._readers() if name in orders]
        leads = {n["name"] for n in self._graph.nodes() if n["lead"]}
        return next((r for r in readers if r in leads), readers[0] if readers else None)

    def _orders(self) -> dict[str, Any]:
        """What the state says of every reader that feeds an output, and of nothing else."""
        orders: dict[str, Any] = json.loads(self._built().state())["orders"]
        return orders

    def _readers(self) -> list[str]:
        table = operators()
        return [n["name"] for n in self._graph.nodes() if table[n["op"]]["kind"] == "read"]

    # Of Pipeline.

    _graph: _core.Graph

    @abstractmethod
    def _built(self) -> _core.Pipeline:
        """The engine, built where it was not yet."""
