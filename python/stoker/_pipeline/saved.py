# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A pipeline as text: its graph and settings, saved and loaded."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, TypeVar

from stoker import _core
from stoker._pipeline.settings import Options, options_of_file
from stoker.errors import GraphError

SavedPipeline = TypeVar("SavedPipeline", bound="Saved")


class Saved(ABC):
    """What ``Pipeline`` inherits: the saved form."""

    def serialize(self, filename: str | os.PathLike[str] | None = None) -> str:
        """The graph and the settings as JSON that a person can read; also written to a file."""
        if not self._outputs:
            self.build()
        text = self._graph.save(json.dumps(self._options.for_file()))
        if filename is not None:
            Path(filename).write_text(text, encoding="utf-8")
        return text

    @classmethod
    def deserialize(
        cls: type[SavedPipeline],
        serialized_pipeline: str | bytes | None = None,
        filename: str | os.PathLike[str] | None = None,
        **overrides: Any,
    ) -> SavedPipeline:
        """The pipeline that ``serialize`` saved, from text or a file; settings given here win.

        Raises ``GraphError`` for what is no saved pipeline, or has operators or settings that are
        not known. Sources of ``fn.external_source`` are not saved: their nodes are to be fed.
        """
        if (serialized_pipeline is None) == (filename is None):
            raise GraphError("deserialize expects either the text or filename=")
        if filename is not None:
            serialized_pipeline = Path(filename).read_bytes()
        graph, options = _core.Graph.load(_text(serialized_pipeline))
        pipe = cls(**{**options_of_file(json.loads(options)), **overrides})
        pipe._take_graph(graph)
        return pipe

    def deserialize_and_build(self, serialized_pipeline: str | bytes) -> None:
        """Takes the graph of a saved pipeline for its own, with this pipeline's settings."""
        self._graph_to_change()
        graph, _ = _core.Graph.load(_text(serialized_pipeline))
        self._take_graph(graph)
        self.build()

    def _take_graph(self, graph: _core.Graph) -> None:
        self._graph = graph
        self._outputs = list(graph.outputs())

    def save_graph_to_dot_file(
        self,
        filename: str | os.PathLike[str],
        *,
        show_tensors: bool = False,
        show_ids: bool = False,
        use_colors: bool = False,
    ) -> None:
        """Writes the graph for Graphviz."""
        from stoker._pipeline.dot import dot

        text = dot(
            self.serialize(), show_tensors=show_tensors, show_ids=show_ids, use_colors=use_colors
        )
        Path(filename).write_text(text, encoding="utf-8")

    # Of Pipeline.

    _graph: _core.Graph
    _options: Options
    _outputs: list[tuple[int, int]]

    @abstractmethod
    def build(self) -> None:
        """Defines the graph and opens what is read."""

    @abstractmethod
    def _graph_to_change(self) -> _core.Graph:
        """The graph; raises ``GraphError`` once the pipeline is built."""


def _text(saved: Any) -> str:
    return saved.decode() if isinstance(saved, bytes) else str(saved)
