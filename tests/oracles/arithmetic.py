# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""arithmetic, by NumPy, with the rules of dtypes and values written out.

The text of an expression is read by Python's own parser.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .common import Array, numbers

INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
DTYPES = ["bool", *INTEGERS, "float16", "float32", "float64"]
SYMBOLS = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
FUNCTIONS = [
    *["sqrt", "rsqrt", "cbrt", "exp", "log", "log2", "log10", "fabs", "floor", "ceil"],
    *["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"],
    *["asinh", "acosh", "atanh"],
]
_NUMPY_NAMES = {
    **{"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"},
    **{"acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2"},
}
# These are rounded from double precision, so float32 and float16 are the same.
# tests/definition/test_arithmetic.py says how far float64 may differ.
NUMERICAL = ["+", "-", "/", "//", "%", "**", "min", "max", "fpow", "atan2"]  # not of bools alone
ROUNDED = ["**", "pow", "fpow", "atan2"]


class RefusedError(Exception):
    """There is no such operation on these dtypes."""


def promoted(a: str, b: str) -> str:
    """The dtype to which two operands are brought."""
    if a == b or b == "bool":
        return a
    if a == "bool":
        return b
    kinds = {np.dtype(a).kind, np.dtype(b).kind}
    if "f" in kinds and kinds != {"f"}:
        return a if np.dtype(a).kind == "f" else b
    width = {t: np.dtype(t).itemsize for t in (a, b)}
    if len(kinds) == 1:
        return max((a, b), key=width.__getitem__)
    signed, unsigned = (a, b) if np.dtype(a).kind == "i" else (b, a)
    bits = 8 * max(width[signed], min(2 * width[unsigned], 8))
    return f"int{bits}" if width[unsigned] >= width[signed] else signed


def result_dtype(operation: str, a: str, b: str) -> str:
    """The dtype of the result of two operands. Raises ``RefusedError``."""
    common = promoted(a, b)
    is_float = np.dtype(common).kind == "f"
    if operation in COMPARISONS:
        return "bool"
    if operation in ("&", "|", "^", "<<", ">>") and is_float:
        raise RefusedError
    if operation in NUMERICAL and common == "bool":
        raise RefusedError
    return "float32" if operation in ("/", "fpow", "atan2") and not is_float else common


def brought(value: Array, dtype: str) -> Array:
    """The operand in a wider dtype. Only uint64 numbers may not fit, and wrap."""
    with np.errstate(over="ignore"):
        return value.astype(dtype)


def wrapped(values: list[int], dtype: str, shape: tuple[int, ...]) -> Array:
    bits = 8 * np.dtype(dtype).itemsize
    flat = [v % 2**bits for v in values]
    return np.array(flat, dtype=f"uint{bits}").view(dtype).reshape(shape)


def exact(f: Callable[[int, int], int], a: Array, b: Array, dtype: str) -> Array:
    """f of Python's whole numbers, which do not overflow; the result wraps."""
    a, b = np.broadcast_arrays(brought(a, dtype), brought(b, dtype))
    if dtype == "bool":
        return np.array(
            [bool(f(int(x), int(y))) for x, y in zip(a.flat, b.flat, strict=True)]
        ).reshape(a.shape)
    made = [f(int(x), int(y)) for x, y in zip(a.flat, b.flat, strict=True)]
    return wrapped(made, dtype, a.shape)


def truncated(a: int, b: int) -> int:
    """a divided by b, cut off towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shift_left(bits: int) -> Callable[[int, int], int]:
    return lambda a, b: a << (b % bits)


def shift_right(bits: int) -> Callable[[int, int], int]:
    return lambda a, b: a >> (b % bits)


def whole(operation: str, a: Array, b: Array, dtype: str) -> Array:
    bits = 64 if np.dtype(dtype).itemsize == 8 else 32
    table: dict[str, Callable[[int, int], int]] = {
        "+": lambda x, y: x + y,
        "-": lambda x, y: x - y,
        "*": lambda x, y: x * y,
        "//": truncated,
        "%": lambda x, y: x - y * truncated(x, y),
        "**": lambda x, y: 0 if y < 0 else pow(x, y, 2**64),
        "&": lambda x, y: x & y,
        "|": lambda x, y: x | y,
        "^": lambda x, y: x ^ y,
        "<<": shift_left(bits),
        ">>": shift_right(bits),
        "min": min,
        "max": max,
    }
    return exact(table[operation], a, b, dtype)


def floats(operation: str, a: Array, b: Array, dtype: str) -> Array:
    a, b = brought(a, dtype), brought(b, dtype)
    if dtype == "float16":  # as float32, rounded afterwards
        return floats(operation, a.astype("float32"), b.astype("float32"), "float32").astype(dtype)
    table: dict[str, Callable[..., Any]] = {
        "+": np.add,
        "-": np.subtract,
        "*": np.multiply,
        "/": np.divide,
        "//": np.divide,
        "%": np.fmod,
        "min": lambda x, y: np.where(x < y, x, y),
        "max": lambda x, y: np.where(x > y, x, y),
    }
    if operation in ROUNDED:
        f = np.arctan2 if operation == "atan2" else np.power
        return np.asarray(f(a.astype("float64"), b.astype("float64")), dtype)
    return np.asarray(table[operation](a, b), dtype)


def compared(operation: str, a: Array, b: Array) -> Array:
    common = promoted(str(a.dtype), str(b.dtype))
    if np.dtype(common).kind == "f":
        a, b = brought(a, common), brought(b, common)
    else:  # by value: Python's whole numbers
        a, b = a.astype(object), b.astype(object)
    table = {"==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal}
    table |= {">": np.greater, ">=": np.greater_equal}
    return np.asarray(table[operation](a, b), bool)


def of_two(operation: str, a: Array, b: Array) -> Array:
    """The operation on two operands of any dtypes."""
    operation = {"pow": "**"}.get(operation, operation)
    dtype = result_dtype(operation, str(a.dtype), str(b.dtype))
    if operation in COMPARISONS:
        return compared(operation, a, b)
    if np.dtype(dtype).kind == "f":
        return floats(operation, a, b, dtype)
    return whole(operation, a, b, dtype)


def of_one(operation: str, a: Array) -> Array:
    """The operation on one operand."""
    dtype = str(a.dtype)
    if operation == "+":
        return a
    if operation == "~":
        if a.dtype.kind == "f":
            raise RefusedError
        return ~a
    if operation in ("-", "abs"):
        if operation == "-" and dtype == "bool":
            raise RefusedError
        if a.dtype.kind in "fb":
            return -a if operation == "-" else np.abs(a)
        change = (lambda x: -x) if operation == "-" else abs
        return wrapped([change(int(x)) for x in a.flat], dtype, a.shape)
    made = dtype if a.dtype.kind == "f" else "float32"
    wide = a.astype(made).astype("float64")
    if operation == "rsqrt":
        return (1 / np.sqrt(wide)).astype(made)
    return getattr(np, _NUMPY_NAMES.get(operation, operation))(wide).astype(made)


def number(value: Any) -> Array:
    if isinstance(value, float):
        return np.asarray(value, "float32")
    return np.asarray(value, "int32" if -(2**31) <= value < 2**31 else "int64")


_TREE_SYMBOLS: dict[type, str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"},
    **{ast.Mod: "%", ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"},
    **{ast.LShift: "<<", ast.RShift: ">>", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<"},
    **{ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
    **{ast.UAdd: "+", ast.USub: "-", ast.Invert: "~"},
}


class _Reader:
    """Computes an expression that Python's parser has read."""

    def __init__(self, inputs: list[Array]) -> None:
        self._inputs = inputs

    def value(self, e: Any) -> Array:
        if isinstance(e, ast.BinOp):
            return of_two(_TREE_SYMBOLS[type(e.op)], self.value(e.left), self.value(e.right))
        if isinstance(e, ast.Compare):
            operation = _TREE_SYMBOLS[type(e.ops[0])]
            return of_two(operation, self.value(e.left), self.value(e.comparators[0]))
        if isinstance(e, ast.UnaryOp):
            if isinstance(e.op, ast.USub) and isinstance(e.operand, ast.Constant):
                return number(-e.operand.value)
            return of_one(_TREE_SYMBOLS[type(e.op)], self.value(e.operand))
        if isinstance(e, ast.Constant):
            return number(e.value)
        if isinstance(e, ast.Name):
            if e.id in ("inf", "nan"):
                return number(float(e.id))
            return self._inputs[int(e.id[1:])]
        assert isinstance(e, ast.Call) and isinstance(e.func, ast.Name)
        return self._call(e.func.id, e.args)

    def _call(self, name: str, arguments: list[Any]) -> Array:
        if name in DTYPES:
            return np.asarray(ast.literal_eval(arguments[0])).astype(name)
        values = [self.value(a) for a in arguments]
        if name == "where":
            dtype = promoted(str(values[1].dtype), str(values[2].dtype))
            return np.where(values[0] != 0, brought(values[1], dtype), brought(values[2], dtype))
        if name == "clamp":
            dtype = promoted(promoted(*(str(v.dtype) for v in values[:2])), str(values[2].dtype))
            values = [brought(v, dtype) for v in values]
            return of_two("min", of_two("max", values[0], values[1]), values[2])
        return of_two(name, *values) if len(values) == 2 else of_one(name, *values)


def expected(inputs: list[Array], layout: str, expression: str) -> Array:
    tree = ast.parse(expression, mode="eval").body
    shape = np.broadcast_shapes(*(a.shape for a in inputs))
    with np.errstate(all="ignore"):
        return np.broadcast_to(_Reader(inputs).value(tree), shape)


def odd_numbers(
    rng: np.random.Generator, dtype: str, count: int = 24, most: int = 2**63 - 1
) -> Array:
    """Numbers over the whole range of a dtype, with its limits and small ones."""
    if dtype == "bool":
        return rng.integers(0, 2, count).astype(bool)
    if np.dtype(dtype).kind == "f":
        values = rng.uniform(-8, 8, count)
        values[:5] = [0.0, -0.0, 1.0, -2.5, 3.0]
        return (
            rng.permutation(values).astype("float32" if dtype == "float64" else dtype).astype(dtype)
        )
    low, high = int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), most)
    values = [low, high, high // 2, 0, 1, 2, 3, 7]
    values += [int(v) for v in rng.integers(max(low, -9), min(high, 70), count - 16)]
    values += [int(v) for v in rng.integers(low, high, 8, dtype=dtype, endpoint=True)]
    return rng.permutation(np.array(values, dtype))


def without_zeros(a: Array) -> Array:
    return np.where(a == 0, np.ones_like(a), a) if a.dtype.kind in "iu" else a


def generate(
    rng: np.random.Generator,
) -> Iterator[tuple[list[Array], str | list[str], dict[str, Any]]]:
    # Every operation, on dtypes that differ from one to the next.
    for i, symbol in enumerate([*SYMBOLS, *COMPARISONS, "min", "max", "pow", "fpow", "atan2"]):
        for k in range(4):
            a = odd_numbers(rng, DTYPES[(i + 3 * k) % 12])
            b = odd_numbers(rng, DTYPES[(5 * i + 2 * k + 1) % 12])
            b = without_zeros(b) if symbol in ("//", "%") else b
            text = f"{symbol}(x0, x1)" if symbol.isidentifier() else f"(x0 {symbol} x1)"
            try:
                result_dtype({"pow": "**"}.get(symbol, symbol), str(a.dtype), str(b.dtype))
            except RefusedError:
                continue
            if symbol in ("//", "%") and str(b.dtype) == "bool":
                continue
            if symbol in ROUNDED and "float64" in (str(a.dtype), str(b.dtype)):
                continue
            yield [a, b], "", {"expression": text}
    for i, name in enumerate([*FUNCTIONS, "abs"]):
        for dtype in (DTYPES[1 + i % 10], "float32"):
            yield [odd_numbers(rng, dtype)], "", {"expression": f"{name}(x0)"}
    for dtype in DTYPES:
        signs = ["+", "~"] if dtype == "bool" else ["+", "-"] if "f" in dtype else ["+", "-", "~"]
        for sign in signs:
            yield [odd_numbers(rng, dtype)], "", {"expression": f"({sign}x0)"}
    # Broadcasting, layouts, large and empty tensors, numbers in the text.
    shapes: list[tuple[Any, ...]] = [((5, 7, 3), (3,)), ((5, 1, 3), (7, 1)), ((2, 1, 1), (1, 4, 5))]
    shapes += [
        ((), (2, 3)),
        ((0, 3), (3,)),
        ((33, 65), (33, 1)),
        ((2, 3, 1, 2, 1, 2), (3, 4, 1, 2, 2)),
    ]
    for a_shape, b_shape in shapes:
        inputs = [numbers(rng, a_shape, "uint8"), numbers(rng, b_shape, "int16")]
        yield inputs, "", {"expression": "((x0 - x1) * 3)"}
        yield [inputs[1].astype("float32"), inputs[0]], "", {"expression": "((x0 / 7.5) - x1)"}
    picture = numbers(rng, (13, 18, 3), "uint8")
    for text in ("((x0 / 255) - 0.5)", "(1 - (x0 * 0.25))", "((x0 - 127.5) / 64)", "(x0 // 2.5)"):
        yield [picture], "HWC", {"expression": text}
        yield [numbers(rng, (2, 3, 7), "float32")], "CHW", {"expression": text}
    yield [picture, numbers(rng, (3,), "float32")], ["HWC", "C"], {"expression": "(x0 * x1)"}
    yield [picture, numbers(rng, (18, 3), "uint16")], ["", "WC"], {"expression": "(x0 + x1)"}
    yield [numbers(rng, (3,), "int32"), picture], ["", "HWC"], {"expression": "(x0 ^ x1)"}
    many = [numbers(rng, (4,), "int32") for _ in range(99)]
    yield many[:3], "", {"expression": "clamp(x0, x1, x2)"}
    yield many[:3], "", {"expression": "where((x0 < x1), x2, -1)"}
    yield [many[0], picture.astype("float32")[0, 0, :1]], "", {"expression": "where(x0, x1, 2.5)"}
    yield many[:1], "", {"expression": "(x0 + 5000000000)"}
    yield many[:1], "", {"expression": "((x0 & int8(15)) + uint8(250))"}
    yield many[:1], "", {"expression": "x0"}
    yield many[:1], "", {"expression": "min(x0, inf)"}
    yield [numbers(rng, (3000,), "float32")] * 2, "", {"expression": "(((x0 - x1) * 0.5) + 1)"}


def refused() -> Iterator[tuple[list[Array], str | list[str], dict[str, Any], str]]:
    a, flags = np.zeros((2, 3), "int32"), np.ones(3, bool)
    for text, words in (
        ("(x0 + x1)", "has inputs up to x1, the operator has 1 input"),
        ("(x0 +)", "expects an input, a number, an operation or a call at character"),
        ("(x0 @ 2)", "expects an operation at character 4"),
        ("(x0 + 2", "expects ) at character 7, got its end"),
        ("(x0 + 2))", "expects nothing more"),
        ("(x0 + uint8(300))", "expects a number that fits"),
        ("(x0 + 99999999999999999999)", "expects a number"),
        ("what(x0)", "calls what with 1 operands"),
        ("(" * 60 + "x0", "is nested deeper than 48 levels"),
        ("min(x0, x1000)", "expects an input such as x0"),
    ):
        yield [a], "", {"expression": text}, words
    yield [flags, flags], "", {"expression": "(x0 + x1)"}, "bool + bool: there is no such operation"
    for name in ("sin", "sqrt", "abs", "fabs", "floor"):
        text = f"{name}(bool): there is no such operation on bool; fn.cast makes numbers of truth"
        yield [flags], "", {"expression": f"{name}(x0)"}, text
    for name in ("min", "max", "pow", "fpow", "atan2"):
        yield [flags, flags], "", {"expression": f"{name}(x0, x1)"}, f"{name}(bool, bool): there is"
    yield [flags], "", {"expression": "clamp(x0, x0, x0)"}, "clamp(bool, bool, bool): there is no"
    yield [a.astype("float32"), a], "", {"expression": "(x0 & x1)"}, "float32 & int32"
    yield [a, np.zeros(2)], "", {"expression": "(x0 + x1)"}, "shapes expect equal extents or 1"
    yield [a, a], ["HW", "WC"], {"expression": "(x0 + x1)"}, "layouts expect to be equal"
    both = [a, a[0], a[None]], ["HW", "C", ""]  # although the result has no layout
    yield *both, {"expression": "((x0 + x1) + x2)"}, "layouts expect to be equal"
    yield [a + 1, a], "", {"expression": "(x0 // x1)"}, "a whole number is divided by 0"
    yield [a], "", {"expression": "(x0 % 0)"}, "a whole number is divided by 0"
