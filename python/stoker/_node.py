# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""An edge of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from stoker.errors import GraphError

if TYPE_CHECKING:
    from stoker._pipeline import Pipeline


class DataNode:
    """An output of an operator, to be given to other operators or returned from the pipeline's
    function.

    It stands for one tensor per sample and holds no data itself.
    """

    __slots__ = ("_device", "_node", "_output", "_pipeline")

    def __init__(self, pipeline: Pipeline, node: int, output: int, device: str) -> None:
        self._pipeline = pipeline
        self._node = node
        self._output = output
        self._device = device

    @property
    def name(self) -> str:
        """The name of the operator instance; operators with several outputs add ``[k]``."""
        graph = self._pipeline._graph
        name = str(graph.nodes()[self._node]["name"])
        return name if graph.output_count(self._node) == 1 else f"{name}[{self._output}]"

    @property
    def device(self) -> str:
        """``"cpu"`` or ``"gpu"``: where the data will be."""
        return self._device

    def gpu(self) -> DataNode:
        """The same data on the GPU."""
        if self._device == "gpu":
            return self
        from stoker._operator import call_one

        return call_one("copy", self, device="gpu")

    def __repr__(self) -> str:
        return f"DataNode(name='{self.name}', device='{self._device}')"

    def __bool__(self) -> NoReturn:
        raise GraphError(
            f"{self!r} has no value while the pipeline is being defined, "
            "so it cannot decide an `if`, `and`, `or` or `not`; conditionals are not there yet, "
            "also with enable_conditionals=True"
        )
