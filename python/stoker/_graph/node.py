# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The edges of a graph, and how a node is added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from stoker import _core
from stoker._describe.registry import Plain
from stoker._graph.current import current
from stoker._graph.definition import Definition
from stoker._messages import Place, user_line
from stoker.errors import GraphError


class DataNode:
    """An output of an operator, to give to other operators or return from the pipeline's function.

    It stands for one tensor per sample and holds no data itself.
    """

    __slots__ = ("_definition", "_device", "_is_copy", "_node", "_output")

    def __init__(
        self, definition: Definition, node: int, output: int, device: str, is_copy: bool = False
    ) -> None:
        self._definition = definition
        self._node = node
        self._output = output
        self._device = device
        self._is_copy = is_copy  # a copy on the host of an output on the GPU

    @property
    def name(self) -> str:
        """The name of the operator instance, with ``[k]`` if it has several outputs."""
        graph = self._definition.graph
        name = str(graph.nodes()[self._node]["name"])
        return name if graph.output_count(self._node) == 1 else f"{name}[{self._output}]"

    @property
    def device(self) -> str:
        """Where the data will be: ``"cpu"`` or ``"gpu"``."""
        return self._device

    def gpu(self) -> DataNode:
        """The same data on the GPU."""
        if self._device == "gpu":
            return self
        if self._is_copy:
            return DataNode(self._definition, self._node, self._output, "gpu")
        place = Place("copy", None, user_line())
        (copied,) = add_node(current_definition(place), Call(place, [self], device="gpu"))
        return copied

    def cpu(self) -> DataNode:
        """The same data on the CPU; data on the GPU is copied.

        If the result is an output of the pipeline, ``run()`` waits for the copy; it waits for
        nothing else on the GPU. If the result is an input of an operator, that operator runs on the
        CPU once the copy is complete, while the GPU works on other steps. Its results may go back
        with :meth:`gpu`, and so on any number of times.
        """
        if self._device == "cpu":
            return self
        return DataNode(self._definition, self._node, self._output, "cpu", is_copy=True)

    def __repr__(self) -> str:
        return f"DataNode(name='{self.name}', device='{self._device}')"

    def __bool__(self) -> NoReturn:
        raise GraphError(
            f"{self!r} ({user_line()}) has no value while the pipeline is being defined. "
            "@pipeline_def(enable_conditionals=True) lets it decide an `if`, `a if c else b`, "
            "`and`, `or` or `not` in functions whose source can be read; "
            "nothing lets it decide a `while` or an `assert`"
        )

    def _no_arithmetic(self, *_: object) -> NoReturn:
        self._definition.notes.missing("arithmetic on nodes")
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
    __hash__ = object.__hash__  # sets and dicts compare identities first, so == is not called
    __array_ufunc__ = None  # makes a NumPy array leave the operation to the node


class Call(NamedTuple):
    """A call of an operator whose inputs and arguments are ready for the graph."""

    place: Place
    inputs: Sequence[DataNode | None]
    constants: Mapping[str, Plain] = {}
    computed: Mapping[str, DataNode] = {}  # arguments that other nodes compute
    device: str = "cpu"
    lead: bool = False
    function: _core.UserFunction | None = None
    key: str = ""  # nodes with the same key draw alike; empty: the node gets a key of its own


def current_definition(place: Place) -> Definition:
    """The definition that operator calls add to. Raises ``GraphError`` outside of a pipeline."""
    entry = current()
    if entry is None:
        place.refuse(
            "called outside of a pipeline; "
            "call it in a function decorated with @pipeline_def, or in `with pipe:`"
        )
    return entry.definition


def add_node(definition: Definition, call: Call) -> tuple[DataNode, ...]:
    """Adds a node to the graph and returns its outputs.

    Raises a ``GraphError`` that names the call if the operator, its inputs or its arguments are
    wrong, as far as that can be known before the whole graph is checked.
    """
    for node in (*call.inputs, *call.computed.values()):
        if node is not None and node._definition is not definition:
            call.place.refuse(f"{node!r} belongs to another pipeline")
    graph = definition.graph_to_change()
    index = graph.add(
        call.place.op,
        [None if n is None else (n._node, n._output) for n in call.inputs],
        call.constants,
        {k: (n._node, n._output) for k, n in call.computed.items()},
        call.place.name or "",
        call.device,
        call.place.where,
        call.lead,
        call.key,
        definition.scopes.guards(),
        definition.scopes.current(),
        call.function,
    )
    device = "cpu" if call.device == "cpu" else "gpu"
    return tuple(DataNode(definition, index, k, device) for k in range(graph.output_count(index)))
