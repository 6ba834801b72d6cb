# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""An edge of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from stoker._messages import user_line
from stoker.errors import GraphError

if TYPE_CHECKING:
    from stoker._pipeline.pipeline import Pipeline


class DataNode:
    """An output of an operator, to be given to other operators or returned from the pipeline's
    function.

    It stands for one tensor per sample and holds no data itself.
    """

    __slots__ = ("_device", "_is_copy", "_node", "_output", "_pipeline")

    def __init__(
        self, pipeline: Pipeline, node: int, output: int, device: str, is_copy: bool = False
    ) -> None:
        self._pipeline = pipeline
        self._node = node
        self._output = output
        self._device = device
        self._is_copy = is_copy  # on the host, of an output on the GPU

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
        if self._is_copy:
            return DataNode(self._pipeline, self._node, self._output, "gpu")
        from stoker._graph.calls import call_one

        return call_one("copy", self, device="gpu")

    def cpu(self) -> DataNode:
        """The same data on the CPU; data on the GPU is copied.

        As an output of the pipeline: ``run()`` waits for the copy, as for nothing else on the GPU.
        As an input of operators: these run on the CPU when the copy is there, while the GPU works
        on other steps; their results may go back with :meth:`gpu`, any number of times.
        """
        if self._device == "cpu":
            return self
        return DataNode(self._pipeline, self._node, self._output, "cpu", is_copy=True)

    def __repr__(self) -> str:
        return f"DataNode(name='{self.name}', device='{self._device}')"

    def __bool__(self) -> NoReturn:
        self._pipeline._note_missing("a conditional on nodes")
        raise GraphError(
            f"{self!r} has no value while the pipeline is being defined, "
            "so it cannot decide an `if`, `and`, `or` or `not`; conditionals are not there yet, "
            "also with enable_conditionals=True"
        )

    def _no_arithmetic(self, *_: object) -> NoReturn:
        self._pipeline._note_missing("arithmetic on nodes")
        raise GraphError(
            f"{self!r} ({user_line()}) expects to be given to operators: arithmetic on nodes and "
            "comparing them are not there yet"
        )

    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _no_arithmetic
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _no_arithmetic
    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = __rpow__ = _no_arithmetic
    __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = _no_arithmetic
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _no_arithmetic
    __pos__ = __neg__ = __invert__ = _no_arithmetic
    __hash__ = object.__hash__  # by identity, which sets and dicts look at first
    __array_ufunc__ = None  # an array of NumPy leaves the operation to the node
