# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of numbers, element by element, on the outputs of operators.

Together with Python's operators on nodes they are merged into one pass. Of whole numbers they give
float32, but for ``abs``, ``min``, ``max``, ``clamp`` and ``pow``, which keep whole numbers whole.
"""

from __future__ import annotations

from typing import Any

from stoker._graph.node import DataNode, apply


def sqrt(input: Any) -> DataNode:
    """The square root."""
    return apply("sqrt", [input])


def rsqrt(input: Any) -> DataNode:
    """1 divided by the square root."""
    return apply("rsqrt", [input])


def cbrt(input: Any) -> DataNode:
    """The cube root."""
    return apply("cbrt", [input])


def exp(input: Any) -> DataNode:
    """e to this power."""
    return apply("exp", [input])


def log(input: Any) -> DataNode:
    """The natural logarithm."""
    return apply("log", [input])


def log2(input: Any) -> DataNode:
    """The logarithm to the base 2."""
    return apply("log2", [input])


def log10(input: Any) -> DataNode:
    """The logarithm to the base 10."""
    return apply("log10", [input])


def abs(input: Any) -> DataNode:
    """The absolute value, of the same dtype."""
    return apply("abs", [input])


def fabs(input: Any) -> DataNode:
    """The absolute value, as a float."""
    return apply("fabs", [input])


def floor(input: Any) -> DataNode:
    """The largest whole number that is not above it, as a float."""
    return apply("floor", [input])


def ceil(input: Any) -> DataNode:
    """The smallest whole number that is not below it, as a float."""
    return apply("ceil", [input])


def sin(input: Any) -> DataNode:
    """The sine of an angle in radians."""
    return apply("sin", [input])


def cos(input: Any) -> DataNode:
    """The cosine of an angle in radians."""
    return apply("cos", [input])


def tan(input: Any) -> DataNode:
    """The tangent of an angle in radians."""
    return apply("tan", [input])


def asin(input: Any) -> DataNode:
    """The angle in radians with this sine."""
    return apply("asin", [input])


def acos(input: Any) -> DataNode:
    """The angle in radians with this cosine."""
    return apply("acos", [input])


def atan(input: Any) -> DataNode:
    """The angle in radians with this tangent."""
    return apply("atan", [input])


def sinh(input: Any) -> DataNode:
    """The hyperbolic sine."""
    return apply("sinh", [input])


def cosh(input: Any) -> DataNode:
    """The hyperbolic cosine."""
    return apply("cosh", [input])


def tanh(input: Any) -> DataNode:
    """The hyperbolic tangent."""
    return apply("tanh", [input])


def asinh(input: Any) -> DataNode:
    """The inverse of the hyperbolic sine."""
    return apply("asinh", [input])


def acosh(input: Any) -> DataNode:
    """The inverse of the hyperbolic cosine."""
    return apply("acosh", [input])


def atanh(input: Any) -> DataNode:
    """The inverse of the hyperbolic tangent."""
    return apply("atanh", [input])


def pow(base: Any, exponent: Any) -> DataNode:
    """A power; whole numbers stay whole. The same as ``base ** exponent``."""
    return apply("pow", [base, exponent])


def fpow(base: Any, exponent: Any) -> DataNode:
    """A power, as a float."""
    return apply("fpow", [base, exponent])


def min(left: Any, right: Any) -> DataNode:
    """The smaller of two values; the second where either is NaN."""
    return apply("min", [left, right])


def max(left: Any, right: Any) -> DataNode:
    """The larger of two values; the second where either is NaN."""
    return apply("max", [left, right])


def atan2(y: Any, x: Any) -> DataNode:
    """The angle in radians of the point (x, y), from -pi to pi."""
    return apply("atan2", [y, x])


def clamp(value: Any, lo: Any, hi: Any) -> DataNode:
    """The value, but not below ``lo`` and not above ``hi``."""
    return apply("clamp", [value, lo, hi])


def where(condition: Any, if_true: Any, if_false: Any) -> DataNode:
    """For each element one of two values, as a condition says. It is true unless it is 0."""
    return apply("where", [condition, if_true, if_false])
