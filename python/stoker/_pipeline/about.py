# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What a pipeline says of itself: its readers, its work so far, what was bad, its settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from stoker import _core
from stoker._graph.definition import Definition
from stoker._pipeline import readers, saved
from stoker._pipeline.engine import Engine
from stoker._pipeline.stats import Stats
from stoker._replace import replace_with
from stoker._settings.configured import Configured


class About(Configured):
    """The part of ``Pipeline`` that changes nothing, but for building it."""

    _definition: Definition
    _engine: Engine

    if TYPE_CHECKING:

        def build(self) -> None: ...

    def _built(self) -> _core.Pipeline:
        self.build()
        return self._engine.made()

    def reader_meta(self, name: str | None = None) -> dict[str, Any]:
        """What a reader knows of its data: ``epoch_size``, ``epoch_size_padded``,
        ``number_of_shards``, ``shard_id``, …; of folders of classes also ``class_names``, by
        label.

        Without a name: a dict of all readers that an output needs. Raises ``GraphError`` when none
        of them has that name.
        """
        engine = self._built()
        if name is not None:
            meta = engine.reader_meta(name)
            if name in self._engine.class_names:
                meta["class_names"] = list(self._engine.class_names[name])
            return meta
        used = readers.orders(engine)
        names = [r for r in readers.reader_names(self._definition.graph) if r in used]
        return {reader: self.reader_meta(reader) for reader in names}

    def epoch_size(self, name: str | None = None) -> Any:
        """Samples in a reader's epoch, padding included where it pads; without a name: a dict of
        all readers.
        """
        if name is not None:
            return self.reader_meta(name)["epoch_size_padded"]
        return {reader: meta["epoch_size_padded"] for reader, meta in self.reader_meta().items()}

    @property
    def lead_reader(self) -> str | None:
        """The reader whose samples make the epoch; None without a reader that feeds an output."""
        orders = self._orders()
        return readers.lead_reader(self._definition.graph, orders)

    def _orders(self) -> dict[str, Any]:
        return readers.orders(self._built())

    def steps_left(self) -> int:
        """Steps to the end of this epoch."""
        return self._built().steps_left()

    def stats(self) -> dict[str, Any]:
        """Rates, waits and memory, the time of every operator, and who decodes for a device.

        ``print(pipe.stats())`` shows the dict as a table.
        """
        return Stats(self._built().stats())

    def save_jpeg_indexes(self, path: str | os.PathLike[str]) -> None:
        """Writes what was found out of JPEG files so far, for ``load_jpeg_indexes``.

        The file, usually named ``*.sti``, takes the place of any before it at once, so that nobody
        reads half of it. ``stoker index jpeg`` makes such a file without a pipeline. Raises
        ``OSError``.
        """
        replace_with(path, self._built().jpeg_indexes())

    def load_jpeg_indexes(self, path: str | os.PathLike[str]) -> None:
        """Takes what ``save_jpeg_indexes`` or ``stoker index jpeg`` wrote, as far as there is room.

        The setting ``jpeg_index_limit`` is the room. No pixel depends on it: what it knows of files
        that have changed since is not used. Raises ``SampleError`` where the file is damaged or of
        another version, and then takes nothing of it; ``OSError``.
        """
        with open(path, "rb") as file:
            self._built().add_jpeg_indexes(file.read())

    def executor_statistics(self) -> dict[str, Any]:
        """Nothing, as in the established library unless ``exec_dynamic=False``: operators have no
        buffers of their own here. ``stats()`` has the memory of the whole and everyone's time.
        """
        return {}

    def plan(self) -> str:
        """In words: the settings in use, the stages that run and what was rewritten."""
        return self._built().plan()

    def quarantine(self) -> list[dict[str, Any]]:
        """The samples found damaged so far: file, offset, operator, message.

        One entry for each, of its last failure; ``times`` counts them. Where ``on_error='drop'``
        dropped a batch for which an operator failed that sees whole batches, the operator has an
        entry too, with -1 as ``index_in_batch``.
        """
        return self._built().quarantine()

    def write_quarantine(self, path: str | os.PathLike[str]) -> None:
        """Writes ``quarantine()`` as one JSON object per line.

        A ``source`` that is not UTF-8 is escaped there, and ``source_bytes`` are its bytes as
        hexadecimal digits.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(saved.quarantine_line(entry) for entry in self.quarantine())

    @property
    def num_outputs(self) -> int:
        """Outputs of ``run()``; 0 before they are set."""
        return len(self._definition.outputs)

    def __repr__(self) -> str:
        stage = "built" if self._engine.is_made else "defined"
        return (
            f"<{type(self).__name__} batch_size={self.batch_size} num_threads={self.num_threads} "
            f"outputs={self.num_outputs} {stage}>"
        )

    # Its settings; the others can be read under the names that they are given by.

    @property
    def max_batch_size(self) -> int | None:
        """``batch_size``; None when none was given."""
        return cast("int | None", self._settings["batch_size"])

    @property
    def num_threads(self) -> int:
        """CPU workers."""
        return self._settings["num_threads"] or _core.usable_cpus()

    @property
    def error_policy(self) -> _core.ErrorPolicy:
        """What becomes of bad samples, as ``on_error`` says."""
        return _core.ErrorPolicy(self._settings["on_error"])

    @property
    def seed(self) -> int | None:
        """The seed in use; None before the build when none was given."""
        return self._engine.seed

    @property
    def exec_separated(self) -> bool:
        """Whether the CPU and the GPU have queues of their own: never."""
        return False

    @property
    def cpu_queue_size(self) -> int:
        """The one queue's depth."""
        return cast(int, self._settings["prefetch_queue_depth"])

    gpu_queue_size = cpu_queue_size
