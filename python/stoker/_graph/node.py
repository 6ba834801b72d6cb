# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The edges of a graph, and how a node is added."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from stoker import _core
from stoker._describe.registry import Plain, operators
from stoker._graph.constants import (
    Computed,
    NotAConstantError,
    constant_arguments,
    number_text,
    plain,
)
from stoker._graph.current import current
from stoker._graph.definition import Definition
from stoker._graph.expressions import Arithmetic, Expression
from stoker._graph.outside import anywhere, bound, in_its_pipeline
from stoker._graph.scopes import Guard
from stoker._graph.unusable import refuse_unusable
from stoker._messages import Place, shown, user_line
from stoker.errors import GraphError, GraphTypeError

_WAY = "operators of fn change it, and NumPy what run() gives"
_OPERATORS = {  # what methods of arrays and tensors are called here
    "astype": "cast",
    "float": "cast",
    "half": "cast",
    "permute": "transpose",
    "type": "cast",
    "view": "reshape",
}


class DataNode(Arithmetic, Computed):
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
        here = in_its_pipeline(self)
        node = here._node  # may add it to the graph
        graph = here._definition.graph
        name = str(graph.node(node)["name"])
        return name if graph.output_count(node) == 1 else f"{name}[{self._output}]"

    @property
    def device(self) -> str:
        """Where the data will be: ``"cpu"`` or ``"gpu"``."""
        return self._device

    @anywhere
    def gpu(self) -> DataNode:
        """The same data on the GPU."""
        if self._device == "gpu":
            return self
        if self._is_copy:
            return DataNode(self._definition, self._node, self._output, "gpu")
        place = Place("copy", None, user_line())
        (copied,) = add_node(current_definition(place), Call(place, [self], device="gpu"))
        return copied

    @anywhere
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

    @property
    def shape(self) -> ShapeOf:
        """``shape(dtype=None, device="cpu")`` gives the extents of each sample, one per axis.

        They are int64 or of another ``dtype``. ``device`` is "cpu" or "gpu", where the result
        lies. Raises ``GraphError`` for anything else. See ``fn.shapes``.
        """
        return ShapeOf(self)

    @anywhere
    def _shape(self, dtype: Any, device: str) -> DataNode:
        return self._asked("shapes", "dtype", "int64" if dtype is None else dtype, device)

    @anywhere
    def property(self, key: str, *, device: str = "cpu") -> DataNode:
        """``"layout"`` or ``"source_info"`` of each sample: its bytes, uint8 of one axis.

        ``device`` is "cpu" or "gpu", where the result lies. Raises ``GraphError`` for anything
        else. See ``fn.get_property``.
        """
        return self._asked("get_property", "key", key, device)

    def source_info(self, *, device: str = "cpu") -> DataNode:
        """Where each sample came from: ``property("source_info")``, uint8 of one axis."""
        return self.property("source_info", device=device)

    def _asked(self, op: str, argument: str, value: Any, device: str) -> DataNode:
        place = Place(op, None, user_line())
        if device not in ("cpu", "gpu"):
            place.refuse(f"device expects 'cpu' or 'gpu', got {shown(device)}")
        try:
            given = {argument: plain(value)}
        except NotAConstantError as e:
            place.refuse(f"argument '{argument}' {e}", GraphTypeError)
        call = Call(place, [self], given, device=self._device)
        (answer,) = add_node(current_definition(place), call)
        return answer.gpu() if device == "gpu" else answer.cpu()

    def __repr__(self) -> str:
        return f"DataNode(name='{self.name}', device='{self._device}')"

    def __bool__(self) -> NoReturn:
        raise GraphTypeError(
            f"{self!r} ({user_line()}) has no value while the pipeline is being defined. "
            "@pipeline_def(enable_conditionals=True) lets it decide an `if`, `a if c else b`, "
            "`and`, `or` or `not` in functions whose source can be read; "
            "nothing lets it decide a `while` or an `assert`, and for `in` and max() there are "
            "(x == 1) | (x == 2) and stoker.math.max(x, y)"
        )

    def _refuse_value(self) -> NoReturn:
        raise GraphTypeError(
            f"{self!r} ({user_line()}) has no value while the pipeline is being defined: "
            "x[node] takes a node as an index, and operators of fn compute with it"
        )

    __int__ = __float__ = __index__ = _refuse_value

    def __setitem__(self, key: object, value: object) -> NoReturn:
        raise GraphTypeError(
            f"{self!r} ({user_line()}) cannot be written into: fn.erase, fn.multi_paste and "
            "arithmetic such as x * mask make what is changed"
        )

    def __getattr__(self, name: str) -> NoReturn:
        problem = f"a node has no '{name}'"
        if not name.startswith("_"):
            operator = _OPERATORS.get(name, name)
            there = (
                f"fn.{operator}(...) makes another node of it" if operator in operators() else ""
            )
            problem += f": it holds no data while the pipeline is being defined; {there or _WAY}"
        if name in ("cuda", "to"):
            problem = f"a node has no '{name}'. Did you mean 'gpu'?"
        raise AttributeError(problem, name=name, obj=None)  # else Python adds a guess of its own

    __array_ufunc__ = None  # makes a NumPy array leave the operation to the node

    def _stand_in(self, definition: Definition) -> DataNode:
        """A constant with its device, in the definition of a call that is outside of a pipeline."""
        place = Place("constant", None, user_line())
        call = Call(place, [], {"idata": [0], "dtype": "int32", "shape": []})
        (constant,) = add_node(definition, call)
        return constant.gpu() if self._device == "gpu" else constant

    def is_same(self, other: DataNode) -> bool:
        """Whether both stand for the same tensors. (``==`` compares the tensors' elements.)"""
        mine = (self._node, self._output, self._device, self._is_copy)
        return self is other or mine == (
            other._node,
            other._output,
            other._device,
            other._is_copy,
        )

    __iter__ = None  # so that it is no Iterable; _graph/iteration.py says what to do instead

    def __len__(self) -> NoReturn:
        raise GraphTypeError(
            f"{self!r} ({user_line()}) has no length while the pipeline is being defined; "
            "fn.shapes gives the extents of each sample"
        )

    def __array__(self, *args: Any, **options: Any) -> NoReturn:
        raise GraphTypeError(
            f"{self!r} holds no data while the pipeline is being defined: use "
            "operators of fn here, and NumPy on what run() gives"
        )

    def __getitem__(self, key: Any) -> DataNode:
        """A part of the tensor, as in NumPy: numbers, ranges, ``...``, ``newaxis``, and nodes of
        one whole number each. None takes a whole axis, as ``:`` does."""
        return _subscript(self, key)

    def _apply(self, operation: str, *operands: Any, reflected: bool = False) -> DataNode:
        return apply(operation, operands, reflected)


class ShapeOf:
    """``node.shape``, which is to be called."""

    def __init__(self, node: DataNode) -> None:
        self._node = node

    def __call__(self, *, dtype: Any = None, device: str = "cpu") -> DataNode:
        return self._node._shape(dtype, device)

    def _refuse(self, *_: object) -> NoReturn:
        raise GraphTypeError(
            f"the shape of {self._node!r} ({user_line()}) is not known while the pipeline is being "
            "defined: x.shape() is a node with the extents of each sample, and x.shape()[0] one "
            "with the first of them"
        )

    __getitem__ = __iter__ = __len__ = _refuse

    def __repr__(self) -> str:
        return f"{self._node!r}.shape, which is to be called: x.shape() is a node"


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
    home: Home | None = None  # None: where the user's code is now


class Home(NamedTuple):
    """Where in the user's code a node belongs."""

    guards: list[Guard]
    scope: str


def _here(definition: Definition) -> Home:
    return Home(definition.scopes.guards(), definition.scopes.current())


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
    given = [None if n is None else bound(n, definition) for n in call.inputs]
    computed = {k: bound(n, definition) for k, n in call.computed.items()}
    for other in (*given, *computed.values()):
        if other is not None and other._definition is not definition:
            call.place.refuse(f"{other!r} belongs to another pipeline")
    graph = definition.graph_to_change()
    node = _core.Node(call.place.op, call.place.where, call.device)
    node.set_arguments(call.constants)
    node.set_inputs([None if n is None else (n._node, n._output) for n in given])
    node.set_links({k: (n._node, n._output) for k, n in computed.items()})
    node.name, node.key, node.lead = call.place.name or "", call.key, call.lead
    guards, node.scope = call.home or _here(definition)
    node.set_guards(guards)
    if call.function is not None:
        node.set_function(call.function)
    index = graph.add(node)
    device = "cpu" if call.device == "cpu" else "gpu"
    return tuple(DataNode(definition, index, k, device) for k in range(graph.output_count(index)))


class ExpressionNode(DataNode):
    """What arithmetic gives. It becomes a node of the graph as soon as anything asks for that."""

    __slots__ = ("_added", "_home", "_is_part", "_place", "_tree")

    def __init__(self, definition: Definition, tree: Expression, device: str, place: Place) -> None:
        self._definition = definition
        self._device = device
        self._is_copy = False
        self._tree = tree
        self._place = place
        self._home = _here(definition)
        self._added: DataNode | None = None
        self._is_part = False  # of another expression

    def part(self, device: str, home: Home) -> Expression | DataNode:
        """Itself as an operand of an expression: its tree, if it is used in no other place."""
        is_used = self._added is not None or self._is_part
        fits = self._device == device and self._home.guards == home.guards
        if is_used or not fits or self._tree.is_large():
            return self._as_node()
        self._is_part = True
        return self._tree

    def _as_node(self) -> DataNode:
        if self._added is None:
            inputs: list[DataNode] = []
            text = self._tree.text(inputs)
            call = Call(
                self._place, inputs, {"expression": text}, device=self._device, home=self._home
            )
            (self._added,) = add_node(self._definition, call)
        return self._added

    @property
    def _node(self) -> int:  # type: ignore[override]
        return self._as_node()._node

    @property
    def _output(self) -> int:  # type: ignore[override]
        return 0


@anywhere
def apply(operation: str, operands: Sequence[Any], reflected: bool = False) -> DataNode:
    """An operation of arithmetic on nodes and numbers. At least one operand is a node.

    Raises a ``GraphError`` that names the user's line.
    """
    place = Place("arithmetic", None, user_line())
    nodes = [o for o in operands if isinstance(o, DataNode)]
    if not nodes:
        got = ", ".join(map(shown, operands))
        place.refuse(f"{operation} expects a node, got {got}", GraphTypeError)
    definition = nodes[0]._definition
    definition.graph_to_change()
    for node in nodes:
        if node._definition is not definition:
            place.refuse(f"{node!r} belongs to another pipeline")
    device = "gpu" if any(n.device == "gpu" for n in nodes) else "cpu"
    home = _here(definition)

    def part(operand: Any) -> Any:
        if isinstance(operand, ExpressionNode):
            return operand.part(device, home)
        if isinstance(operand, DataNode):
            return operand
        refuse_unusable(operand)
        try:
            text = number_text(operand, reflected)
            if text is not None:
                return text
            given = constant_arguments(operand)
        except NotAConstantError as e:
            place.refuse(f"an operand of {operation} {e}", GraphTypeError)
        (made,) = add_node(definition, Call(place._replace(op="constant"), [], given))
        return made

    tree = Expression(operation, tuple(part(o) for o in operands))
    return ExpressionNode(definition, tree, device, place)


class NewAxis:
    """In ``x[:, newaxis]``: an axis of extent 1 is inserted.

    ``newaxis("C")`` has a letter in the layout; without it the result has no layout.
    """

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __call__(self, name: str = "") -> NewAxis:
        if not isinstance(name, str) or len(name) > 1 or not name.isascii():
            raise GraphError(f"newaxis expects one letter, got {shown(name)}")
        return NewAxis(name)

    def __repr__(self) -> str:
        return f"newaxis({self._name!r})" if self._name else "newaxis"


newaxis = NewAxis()


@anywhere
def _subscript(node: DataNode, key: Any) -> DataNode:
    place = Place("subscript", None, user_line())
    computed: list[DataNode] = []

    def number(value: Any) -> str:
        if isinstance(value, DataNode):
            computed.append(value)
            return f"${len(computed) - 1}"
        refuse_unusable(value)
        if not isinstance(value, bool):
            try:
                return str(operator.index(value))
            except TypeError:
                pass
        place.refuse(
            f"the brackets expect whole numbers, ranges, ... and newaxis, got {shown(value)}",
            GraphTypeError,
        )

    def item(value: Any) -> str:
        if value is None:
            return ":"
        if value is Ellipsis:
            return "..."
        if isinstance(value, NewAxis):
            return f"newaxis {value._name}".rstrip()
        if not isinstance(value, slice):
            return number(value)
        begin, end, step = (
            "" if v is None else number(v) for v in (value.start, value.stop, value.step)
        )
        return f"{begin}:{end}" + (f":{step}" if step else "")

    items = key if isinstance(key, tuple) else (key,)
    selection = ", ".join(map(item, items or (Ellipsis,)))
    given = {} if not computed else {"indices": _list_of(node._definition, computed, place)}
    call = Call(place, [node], {"selection": selection}, given, device=node.device)
    (part,) = add_node(node._definition, call)
    return part


def _list_of(definition: Definition, nodes: list[DataNode], place: Place) -> DataNode:
    """One node with the numbers of several."""
    if len(nodes) == 1:
        return nodes[0]

    def added(op: str, inputs: list[DataNode], **constants: Plain) -> DataNode:
        device = "gpu" if any(n.device == "gpu" for n in inputs) else "cpu"
        call = Call(place._replace(op=op), inputs, constants, device=device)
        return add_node(definition, call)[0]

    return added("stack", [added("cast", [n], dtype="int64") for n in nodes])
