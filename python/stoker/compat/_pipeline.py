# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The pipeline as scripts of DALI use it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from stoker import Batch
from stoker._graph.definition import Notes
from stoker._pipeline import pipeline
from stoker._pipeline.pipeline_def import decorated
from stoker._settings.table import settings as pipeline_settings
from stoker.compat._report import report
from stoker.compat._tensors import as_list


class _Reported(Notes):
    """Reports what a script asked for in vain."""

    def without_effect(self, what: str) -> None:
        report.ignore(what)


class Pipeline(pipeline.Pipeline):
    """Stoker's pipeline with DALI's batches, and with saved graphs and checkpoints as ``bytes``."""

    _notes = _Reported()

    def __init__(
        self,
        *args: Any,
        checkpoint: str | bytes | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        begin = checkpoint.decode() if isinstance(checkpoint, bytes) else checkpoint
        super().__init__(*args, checkpoint=begin, **settings)
        for name, setting in pipeline_settings().items():
            value = self._settings[name]
            if not setting.help and value != setting.default:
                report.ignore(f"Pipeline({name}={value!r})")

    def serialize(  # type: ignore[override]
        self, define_graph: Any = None, filename: str | os.PathLike[str] | None = None
    ) -> bytes:
        """The graph and the settings. Writes them to a file too if ``filename`` is given.

        ``define_graph`` is a function that is called instead of the method of this name.
        """
        if define_graph is not None:
            self.define_graph = define_graph  # type: ignore[method-assign]
        return super().serialize(filename).encode()

    def checkpoint(  # type: ignore[override]
        self, filename: str | os.PathLike[str] | None = None
    ) -> bytes:
        """The state, for ``Pipeline(checkpoint=)``. Writes it to a file too if one is given."""
        return super().checkpoint(filename).encode()

    def output_dtype(self) -> Any:
        """The setting ``output_dtype``."""
        return self._settings["output_dtype"]

    def output_ndim(self) -> Any:
        """The setting ``output_ndim``."""
        return self._settings["output_ndim"]

    def output_layout(self) -> Any:
        """The setting ``output_layout``."""
        return self._settings["output_layout"]

    def _handed_out(self, batches: tuple[Batch, ...]) -> Any:
        return tuple(as_list(batch) for batch in batches)


def pipeline_def(definition: Any = None, /, **settings: Any) -> Any:
    """Does what ``stoker.pipeline_def`` does, with the pipelines of this module."""
    return decorated(definition, settings, Pipeline)
