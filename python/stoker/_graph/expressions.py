# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on nodes: the operators of Python, and the text of the expression that they make.

An expression becomes a node of the graph when something other than arithmetic uses it, so
``(a - b) * c + 1`` is one node. It is part of one other expression at most: what is used twice
becomes a node.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

# An operand of this size becomes a node: the engine takes three (src/op/arithmetic/expression.h).
MOST_TERMS = 80
MOST_DEPTH = 40
MOST_INPUTS = 30


class Expression:
    """An operation with its operands: other expressions, nodes, or texts of numbers."""

    __slots__ = ("depth", "inputs", "operands", "operation", "terms")

    def __init__(self, operation: str, operands: tuple[Any, ...]) -> None:
        self.operation = operation
        self.operands = operands
        self.depth: int = 1
        self.terms: int = 1
        self.inputs: int = 0
        for operand in operands:
            if isinstance(operand, Expression):
                self.depth = max(self.depth, 1 + operand.depth)
                self.terms += operand.terms
                self.inputs += operand.inputs
            else:
                self.terms += 1
                self.inputs += not isinstance(operand, str)

    def is_large(self) -> bool:
        """Whether it is better a node of its own than part of another expression."""
        return self.depth >= MOST_DEPTH or self.terms >= MOST_TERMS or self.inputs >= MOST_INPUTS

    def text(self, inputs: list[Any]) -> str:
        """Its text. Adds the nodes to ``inputs``, each of them once."""
        parts = [self._part(operand, inputs) for operand in self.operands]
        if self.operation.isidentifier():
            return f"{self.operation}({', '.join(parts)})"
        if len(parts) == 1:
            return f"({self.operation}{parts[0]})"
        return f"({parts[0]} {self.operation} {parts[1]})"

    @staticmethod
    def _part(operand: Any, inputs: list[Any]) -> str:
        if isinstance(operand, Expression):
            return operand.text(inputs)
        if isinstance(operand, str):
            return operand
        for i, node in enumerate(inputs):
            if node.is_same(operand):
                return f"x{i}"
        inputs.append(operand)
        return f"x{len(inputs) - 1}"


class Arithmetic(ABC):
    """The operators of Python, for nodes. The methods say what each becomes."""

    __slots__ = ()

    @abstractmethod
    def _apply(self, operation: str, *operands: Any, reflected: bool = False) -> Any:
        """The operation on these operands; ``reflected``: on numbers at the left of a node."""

    def __add__(self, other: Any) -> Any:
        return self._apply("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._apply("+", other, self, reflected=True)

    def __sub__(self, other: Any) -> Any:
        return self._apply("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._apply("-", other, self, reflected=True)

    def __mul__(self, other: Any) -> Any:
        return self._apply("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._apply("*", other, self, reflected=True)

    def __truediv__(self, other: Any) -> Any:
        return self._apply("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._apply("/", other, self, reflected=True)

    def __floordiv__(self, other: Any) -> Any:
        return self._apply("//", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._apply("//", other, self, reflected=True)

    def __mod__(self, other: Any) -> Any:
        return self._apply("%", self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._apply("%", other, self, reflected=True)

    def __pow__(self, other: Any) -> Any:
        return self._apply("**", self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._apply("**", other, self, reflected=True)

    def __and__(self, other: Any) -> Any:
        return self._apply("&", self, other)

    def __rand__(self, other: Any) -> Any:
        return self._apply("&", other, self, reflected=True)

    def __or__(self, other: Any) -> Any:
        return self._apply("|", self, other)

    def __ror__(self, other: Any) -> Any:
        return self._apply("|", other, self, reflected=True)

    def __xor__(self, other: Any) -> Any:
        return self._apply("^", self, other)

    def __rxor__(self, other: Any) -> Any:
        return self._apply("^", other, self, reflected=True)

    def __lshift__(self, other: Any) -> Any:
        return self._apply("<<", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._apply("<<", other, self, reflected=True)

    def __rshift__(self, other: Any) -> Any:
        return self._apply(">>", self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._apply(">>", other, self, reflected=True)

    def __eq__(self, other: Any) -> Any:
        return self._apply("==", self, other)

    def __ne__(self, other: Any) -> Any:
        return self._apply("!=", self, other)

    def __lt__(self, other: Any) -> Any:
        return self._apply("<", self, other)

    def __le__(self, other: Any) -> Any:
        return self._apply("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return self._apply(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return self._apply(">=", self, other)

    __hash__ = object.__hash__  # sets and dicts compare identities first, so == is not called

    def __pos__(self) -> Any:
        return self._apply("+", self)

    def __neg__(self) -> Any:
        return self._apply("-", self)

    def __invert__(self) -> Any:
        return self._apply("~", self)

    def __abs__(self) -> Any:
        return self._apply("abs", self)
