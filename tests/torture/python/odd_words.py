# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Texts of odd things, in the words of ``odd``."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import odd

DTYPES = [
    *("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64", "bool"),
]
SOURCES = [kind for kind in odd.SOURCES if kind not in odd.ODD_SOURCES]
ODD_SOURCES = list(odd.ODD_SOURCES)
# What an output shows follows from the iteration alone.
REPEATABLE = ("index", "object", "partial", "default", "generator", "iterable", "fed")
PYTHON_SETTINGS = (
    *("output_dtype", "output_ndim", "output_layout", "max_batch_size", "py_num_workers"),
    *("py_start_method", "py_callback_pickler", "checkpoint", "exec_pipelined"),
)

FAILURES = [
    *("KeyError('x')", "SilentError()", "OddError()", "UnknownError(1, 2)", "StopIteration()"),
    *("MemoryError()", "errors.GraphError('x')", "errors.SampleError('x')", "SystemExit(3)"),
    *("GeneratorExit()", "RuntimeError('\\ud800')", "KeyError(Odd())", "OSError(2, 'x', b'y')"),
    *("errors.StateError('x')", "StopAsyncIteration()", "UnicodeDecodeError('a', b'', 0, 1, 'b')"),
]
SAMPLES = [
    *("None", "3", "2.5", "True", "1j", "'text'", "b''", "b'bytes'", "bytearray(b'abc')", "{}"),
    *("{1}", "[]", "[[]]", "[1, [2]]", "[1, None]", "object()", "Odd()", "Unasked()", "1 << 70"),
    *("-1", "[1 << 63]", "range(3)", "range(0)", "float('nan')", "iter([1])", "(x for x in [1])"),
    *(
        "np.float32(3)",
        "np.array(3)",
        "np.array(None)",
        "np.array([1, 'a'], object)",
        "np.array('a')",
    ),
    *("np.array(['2020'], 'M8[D]')", "np.array([1], 'm8[s]')", "np.zeros(2, 'i4,f4')"),
    *("np.zeros(3, 'V5')", "np.zeros(2, 'c8')", "np.longdouble(3)", "np.zeros(2, 'g')"),
    *(
        "np.zeros((1,) * 9)",
        "np.zeros((1,) * 7)",
        "np.zeros((0, 1 << 61), 'u1')",
        "np.datetime64('NaT')",
    ),
    *("np.broadcast_to(np.uint8(3), (1 << 46,))", "np.broadcast_to(np.float32(3), (2, 3))"),
    *("overlapping(array('int32', (4, 2), 1))", "np.zeros(3, '>i4')", "np.zeros(2, '>M8[s]')"),
    *("np.recarray((2,), 'i4,f4')", "np.array(['a', 'bc'])", "np.array([b'a'])", "nested(40)"),
    *("memoryview(b'abc')[::2]", "memoryview(b'abcd').cast('i')", "memoryview(b'abcd').cast('c')"),
    *("machine_array.array('d', [1, 2])", "machine_array.array('u', 'ab')", "decimal.Decimal(3)"),
    *("fractions.Fraction(1, 2)", "Path('x')", "type", "types.FLOAT", "Ellipsis", "slice(3)"),
    *("OddArray(ValueError('odd'))", "OddArray(OddError())", "OddArray(3)", "OddArray(None)"),
    *("OddArray(np.zeros(2))", "OnlyInterface(np.zeros(2))", "OnlyDLPack(np.zeros(2))"),
    *("OnlyDLPack(read_only(np.zeros(2)))", "OnlyDLPack(3)", "OnlyDLPack(np.zeros(2, 'c8'))"),
    *("OnlyDLPack(np.zeros((2, 3))[:, ::-1])", "OnlyInterface(np.zeros(3)[::-1])", "OddList([1])"),
    *("nested(3000)", "Number.THREE", "np.zeros(2).view(Sub)", "np.matrix([[1, 2]])", "Lazy(1, 2)"),
    *(
        "np.ma.masked_array([1, 2], [0, 1])",
        "torch.zeros(2, dtype=torch.bfloat16)",
        "torch.zeros(2)",
    ),
    *("torch.zeros(2, requires_grad=True)", "torch.zeros(2, 3).T", "torch.zeros(1).expand(3)"),
    *("torch.zeros(2, dtype=torch.complex64)", "torch.tensor(3)", "torch.zeros(2).to_sparse()"),
    *("torch.zeros(2, dtype=torch.complex64).conj()", "torch.empty(2, device='meta')"),
    *(
        "torch.zeros(2, dtype=torch.bool)",
        "torch.quantize_per_tensor(torch.zeros(2), 1, 0, torch.qint8)",
    ),
]
BATCHES = [
    *("np.zeros((0, 3), 'f4')", "np.zeros((2, 3), object)", "np.array(3)", "((),)", "[[]]", "()"),
    *("np.broadcast_to(np.uint8(1), (1 << 46, 1))", "np.zeros((1 << 61, 0), 'u1')", "[b'ab', 'c']"),
    *("np.zeros((2, 1, 1, 1, 1, 1, 1))", "np.zeros((2, 1, 1, 1, 1, 1, 1, 1))", "[[1, 2], [3]]"),
    *(
        "[[1, 2], [3, 4]]",
        "((1, 2), (3, 4))",
        "[np.zeros(2), np.zeros(3)]",
        "np.zeros((3, 2))[::-1]",
    ),
    *(
        "np.asfortranarray(np.ones((2, 3)))",
        "[np.zeros(2, 'u1'), np.zeros(2, 'f4')]",
        "torch.zeros(2, 3)",
    ),
    *("swapped(array('int16', (2, 3), 1))", "memoryview(b'abc')", "bytes(3)", "[[]] * 2", "[{}]"),
]
ARGUMENTS = [
    *(
        "float('nan')",
        "float('inf')",
        "-float('inf')",
        "-0.0",
        "1e308",
        "5e-324",
        "10**30",
        "-(2**63)",
    ),
    *(
        "2**63",
        "2**31",
        "-1",
        "0",
        "1",
        "2.5",
        "True",
        "None",
        "''",
        "'no such'",
        "'HWC'",
        "'a\\0b'",
    ),
    *("'\\ud800'", "'x' * 100_000", "b'uint8'", "object()", "Odd()", "[]", "[None]"),
    *(
        "[1, 'a']",
        "[1, None]",
        "[[1, [2]]]",
        "[[], []]",
        "nested(100_000)",
        "n0",
        "[n0]",
        "[n0, 1]",
    ),
    *("(n0, n0)", "stranger", "[stranger]", "{}", "{'a': 1}", "{1, 2}", "lambda: 1", "type", "int"),
    *(
        "1j",
        "[1j]",
        "np.array(['a'])",
        "np.array([1, 2])",
        "np.zeros((2, 0))",
        "np.zeros(3, object)",
    ),
    *(
        "np.array([Odd()])",
        "np.datetime64('2020')",
        "np.zeros(2, 'i4,f4')",
        "np.array([0.5, np.nan])",
    ),
    *("np.uint64(2**64 - 1)", "np.longdouble(3)", "np.ndarray", "np.generic", "np.dtype('i4,f4')"),
    *("np.dtype('>i4')", "np.dtype('M8[s]')", "np.complex64", "np.str_('HWC')", "np.bytes_(b'x')"),
    *(
        "Kind.NUMBER",
        "Kind.TEXT",
        "Kind.LIST",
        "Kind",
        "slice(1)",
        "...",
        "NotImplemented",
        "range(3)",
    ),
    *(
        "iter([1])",
        "(x for x in [1])",
        "Lazy(1, 2)",
        "Index(Odd())",
        "Index(3)",
        "Float('x')",
        "Float(3)",
    ),
    *(
        "OddTolist()",
        "OddPath(3)",
        "OddPath('x')",
        "OddPath(b'\\xff')",
        "OddText('HWC')",
        "OddBool()",
    ),
    *("OddList([1])", "[Odd()]", "[OddText('a')]", "decimal.Decimal(3)", "decimal.Decimal('sNaN')"),
    *("fractions.Fraction(1, 3)", "types.FLOAT", "types.RGB", "types", "fn", "fn.copy", "ops"),
    *(
        "memoryview(b'ab')",
        "bytearray(b'ab')",
        "machine_array.array('i', [1])",
        "np.zeros((1,) * 20)",
    ),
    *(
        "torch.float32",
        "torch.bfloat16",
        "torch.zeros(2)",
        "torch.tensor(2)",
        "torch.empty(2, device='meta')",
    ),
    *("torch.complex64", "OddArray(3)", "[True, 2]", "[2**70, 1.5]", "[[1], [2, 3]]", "np.True_"),
]
INPUTS = [
    "np.zeros((2, 2, 3), 'u1')",
    "[[1, 2], [3]]",
    "[n0, n0]",
    "[n0, None]",
    "(n0,)",
    "3",
    "[[n0]]",
]
OUTPUTS = [
    "3",
    "None",
    "[1, 2]",
    "'x'",
    "Odd()",
    "n0.gpu",
    "np.zeros(3, 'M8[s]')",
    "[n0]",
    "(n0, n0)",
]
FED = ["'in'", "n0", "None", "3", "Odd()", "''", "'\\ud800'", "b'in0'", "Text('in0')"]

_FORMS = [
    *("{}[::-1]", "np.asfortranarray({})", "read_only({})", "swapped({})", "memoryview({})"),
    *("{}.view(Sub)", "{}.T", "{}[::2]", "OnlyDLPack({})", "OnlyInterface({})"),
    *("np.ma.masked_array({})", "memoryview(read_only({}))", "memoryview({})[::-1]", "{}[1:]"),
    *("OddArray({})", "swapped({})[::-1]", "read_only({}[::-1])", "{}[..., None][..., 0]"),
]
_TORCH = "torch.from_numpy({})"
_SPELLED = {
    "int": ["np.int64({})", "np.int8({})", "Index({})", "np.array({})"],
    "float": [
        "np.float32({})",
        "np.float16({})",
        "np.array({})",
        "Float({})",
        "fractions.Fraction({})",
    ],
    "bool": ["np.bool_({})", "int({})", "np.array({})"],
    "str": ["Text({})", "np.str_({})"],
    "DType": ["np.dtype({})", "np.dtype({}).type", "Text({})", "types.DType({})"],
    "Sequence": [
        "tuple({})",
        "np.array({})",
        "[{}]",
        "np.array({})[::-1][::-1]",
        "[*map(np.array, {})]",
    ],
}


def one(rng: random.Random, texts: Sequence[str]) -> str:
    """One of the texts; PyTorch is slow to import and takes part rarely."""
    text = rng.choice(texts)
    while "torch" in text and rng.random() < 0.9:
        text = rng.choice(texts)
    return text


def form(rng: random.Random, text: str, rank: int) -> str:
    """Another form of an array, which holds numbers all the same."""
    if rank == 0:
        return rng.choice((f"{text}[()]", f"swapped({text})", text))
    if rng.random() < 0.01:
        return _TORCH.format(text)
    if "64" in text and rng.random() < 0.3:
        return f"{text}.tolist()"
    return rng.choice(_FORMS).format(text)


def spelled(rng: random.Random, value: Any, kind: str) -> str:
    """Another spelling of an argument's value."""
    if kind.startswith("Sequence[") and value and not isinstance(value[0], str):
        return rng.choice(_SPELLED["Sequence"]).format(repr(value))
    return rng.choice(_SPELLED.get(kind, ["{}"])).format(repr(value))
