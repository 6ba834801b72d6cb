# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on nodes, as texts that run in both libraries.

tools/record_peer_arithmetic.py records what the established library makes of them, and
tests/definition/test_peer_arithmetic.py compares. ``run(library, cases)`` needs only NumPy and the
library's own ``pipeline_def``, ``fn``, ``math`` and ``newaxis``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

DTYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
DTYPES += ["float16", "float32", "float64"]
SYMBOLS = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
FUNCTIONS = ["sqrt", "rsqrt", "cbrt", "exp", "log", "log2", "log10", "abs", "fabs", "floor", "ceil"]
FUNCTIONS += ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"]
FUNCTIONS += ["asinh", "acosh", "atanh"]
NUMBERS = ["2", "-3", "2.5", "True", "np.int8(3)", "np.uint16(3)", "np.int64(3)", "np.float32(2.5)"]

# Both leave out what ends the established library's process: divisions of whole numbers by 0, and
# of the smallest number by -1.
Tensor = np.ndarray[Any, Any]


def left(dtype: str) -> Tensor:
    if dtype == "bool":
        return np.array([0, 1, 0, 1, 1, 0], bool)
    if dtype.startswith("f"):
        return np.array([0.5, -2.5, 7.0, 1e4, -0.25, 3.0], dtype)
    limits = np.iinfo(dtype)
    third, fifth = (-7, limits.min) if limits.min else (7, limits.max // 2 + 1)
    return np.array([0, 3, third, limits.max, fifth, 100], dtype)


def right(dtype: str, divides: bool = False) -> Tensor:
    if dtype == "bool":
        return np.array([1] * 6 if divides else [1, 0, 1, 0, 0, 1], bool)
    if dtype.startswith("f"):
        return np.array([2.0, 0.75, -3.0, 5.0, 0.125, -1.5], dtype)
    limits = np.iinfo(dtype)
    return np.array([1, 2, -3 if limits.min else 3, limits.max, 5, 9], dtype)


def cases(group: str) -> list[tuple[str, dict[str, Tensor]]]:
    """The texts of a group, each with the tensors that it names."""
    found: list[tuple[str, dict[str, Tensor]]] = []
    if group in (*SYMBOLS, *COMPARISONS, "min", "max", "atan2", "pow", "fpow"):
        is_name = group.isidentifier()
        for a in DTYPES:
            for b in DTYPES:
                text = f"math.{group}(x, y)" if is_name else f"x {group} y"
                tensors = {"x": left(a), "y": right(b, group in ("//", "%"))}
                found.append((text, tensors))
            for number in NUMBERS:
                if is_name:
                    found.append((f"math.{group}(x, {number})", {"x": left(a)}))
                    continue
                found.append((f"x {group} {number}", {"x": left(a)}))
                found.append((f"{number} {group} y", {"y": right(a, group in ("//", "%"))}))
    elif group == "one":
        for a in DTYPES:
            found += [(f"{sign}x", {"x": left(a)}) for sign in ("+", "-", "~")]
            found += [(f"math.{name}(x)", {"x": left(a)}) for name in FUNCTIONS]
            found.append(("abs(x)", {"x": left(a)}))
            found.append(("math.clamp(x, 1, 50)", {"x": left(a)}))
            found.append(("math.clamp(x, y, np.int8(50))", {"x": left(a), "y": right(a)}))
    elif group == "shapes":
        table = np.arange(12, dtype="int64").reshape(3, 4)
        row, column, single = np.arange(4, dtype="uint8"), table[:, :1].copy(), np.array(5, "int16")
        for text in (
            "x + y",
            "y - x",
            "x * z",
            "z < x",
            "x + s",
            "s // (x + 1)",
            "(x - y) * z + 1",
        ):
            found.append((text, {"x": table, "y": row, "z": column, "s": single}))
        for text in (
            "x + [1, 2, 3, 4]",
            "x + (1, 2, 3, 4)",
            "x * [1.5, 2, 3, 4]",
            "[9, 8, 7, 6] - x",
        ):
            found.append((text, {"x": table.astype("uint8")}))
        array = "np.array([1, 2, 3, 4], np.{})"
        found += [(f"x + {array.format(t)}", {"x": row}) for t in ("int64", "uint8", "float64")]
        indices = ["1", "-1", "::-1", ":, 1:3", ":, None", ":, newaxis", "0:100:2", "2:0:-1, -1"]
        indices += ["5:2", "0, 1", "-100:2", "::2, ::3", "7", "0, 1, 2", "..., 1"]
        found += [(f"x[{index}]", {"x": table}) for index in indices]
    return found


GROUPS = [*SYMBOLS, *COMPARISONS, "min", "max", "atan2", "pow", "fpow", "one", "shapes"]


def name_of(text: str, tensors: dict[str, Tensor]) -> str:
    """A case in words, such as "x + y: uint8, int8"."""
    return f"{text}: {', '.join(str(t.dtype) for t in tensors.values())}"


def run(library: Any, text: str, tensors: dict[str, Tensor]) -> Tensor:
    """What the library makes of a case."""

    @library.pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipe() -> Any:
        def node(t: Tensor) -> Any:
            return library.fn.external_source(source=lambda: [t], batch=True)

        known = {name: node(t) for name, t in tensors.items()}
        known |= {"np": np, "math": library.math, "newaxis": library.newaxis}
        return eval(text, known)

    made = pipe()
    made.build()
    return np.array(made.run()[0][0])


def written(result: Tensor) -> str:
    """A result as a text: its dtype, its shape but for (6,), and its bytes."""
    shape = "" if result.shape == (6,) else str(list(result.shape)).replace(" ", "")
    return f"{result.dtype}{shape}:{np.ascontiguousarray(result).tobytes().hex()}"


def read(text: str) -> Tensor:
    """What ``written()`` wrote."""
    kind, _, data = text.partition(":")
    dtype, _, extents = kind.partition("[")
    shape = [int(e) for e in extents.rstrip("]").split(",") if e] if extents else [6]
    return np.frombuffer(bytes.fromhex(data), dtype).reshape([] if kind.endswith("[]") else shape)
