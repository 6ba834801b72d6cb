# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of operators to test with: their cases, what their oracles generate, and made-up ones."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from varied import either, other_values

import jpegs
from helpers import Array, make, outputs_of, samples_of
from oracles.chance import Chance
from stoker import DataNode, Pipeline, fn, types
from stoker._describe.registry import Operator, operators
from stoker._graph.functions import call as call_operator

__stoker_scopes__ = False  # keys do not depend on how tests are written

_ORACLES = Path(__file__).resolve().parents[1] / "oracles"
# A constant holds floats in single precision, so generated inputs are rounded to that.
_WIDE = {"float64": np.float32}


@dataclass(frozen=True)
class Call:
    """One call of an operator: inputs with their layouts, and constant arguments."""

    op: str
    inputs: tuple[tuple[Array, str], ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    expected: tuple[Array, ...] = ()

    def __str__(self) -> str:
        given = [f"{a.dtype} {layout} {a.shape}" for a, layout in self.inputs]
        given += [f"{k}={_short(v)}" for k, v in self.arguments.items()]
        return f"{self.op}({', '.join(given)}) [{self.source}]"

    def with_arguments(self, **changes: Any) -> Call:
        """The same call with some arguments changed; None removes one."""
        merged = {**self.arguments, **changes}
        return replace(self, arguments={k: v for k, v in merged.items() if v is not None})


def names(kind: str | None = None, *, tested: bool = True) -> list[str]:
    """The operators of a kind. Without `tested`, also those that are tested elsewhere."""
    return [
        n
        for n, op in operators().items()
        if (kind is None or op["kind"] == kind) and not (tested and op["skip_reason"])
    ]


def feed(array: Array, layout: str = "") -> DataNode:
    """A node that gives the array for every sample."""
    dtype = str(array.dtype)
    if array.dtype.kind == "f" and np.isnan(array).any():  # which no constant has
        return fn.reinterpret(feed(array.view(f"i{array.itemsize}"), layout), dtype=dtype)
    flat = array.reshape(-1)
    if array.dtype.kind == "f":
        numbers: dict[str, Any] = {"fdata": flat.astype(np.float64).tolist()}
    else:
        numbers = {"idata": (flat.astype(np.uint8) if array.dtype.kind == "b" else flat).tolist()}
    shape = list(array.shape)
    return fn.constant(
        **numbers, shape=shape, dtype=dtype, **({"layout": layout} if layout else {})
    )


def inputs_of(call: Call, *, vary: bool = True) -> list[DataNode]:
    """Nodes for the inputs.

    Of an operator that sees whole batches, those of some samples have other values, unless they are
    not to `vary`.
    """
    nodes = [feed(a, layout) for a, layout in call.inputs]
    if not vary or operators()[call.op]["sees_batch"] == "never":
        return nodes
    others = [feed(other_values(a), layout) for a, layout in call.inputs]
    return [either(*pair, i) for i, pair in enumerate(zip(nodes, others, strict=True))]


def place(call: Call, *, vary: bool = True, **changed: Any) -> list[DataNode]:
    """Adds the call to the current pipeline; `changed` arguments may be nodes."""
    inputs = inputs_of(call, vary=vary)
    merged = {**call.arguments, **changed}
    return outputs_of(call_operator(operators()[call.op], inputs, merged))


def place_all(calls: Iterable[Call], *, vary: bool = True) -> list[DataNode]:
    return [node for call in calls for node in place(call, vary=vary)]


def depends_on_batch(call: Call) -> bool:
    """Whether the results of a call depend on the other samples of the batch."""
    if operators()[call.op]["sees_batch"] == "never":
        return False
    return re.search(r"^stages: .*\bbatch\b", pipeline([call]).plan(), re.MULTILINE) is not None


def case_calls(name: str) -> list[Call]:
    """The literal examples of an operator, with the outputs that they state."""
    found = []
    for i, case in enumerate(operators()[name]["cases"]):
        inputs = tuple(parse_literal(text) for text in case["inputs"])
        expected = tuple(parse_literal(text)[0] for text in case["outputs"])
        arguments = parse_call(case["call"])
        found.append(Call(name, inputs, arguments, f"case {i}", expected))
    return found


def parse_call(text: str) -> dict[str, Any]:
    return dict(eval(f"dict({text})", {"types": types, "dict": dict}))


def parse_literal(text: str) -> tuple[Array, str]:
    """The array and the layout of a text such as "uint8 HWC [[[1]]]"."""
    match = re.fullmatch(r"(\w+)\s+(?:([A-Za-z*]+)\s+)?(.*)", text, re.DOTALL)
    assert match, f"not a literal: {text!r}"
    dtype, layout, values = match.groups()
    numbers = _numbers(ast.parse(values, mode="eval").body)
    return np.array(numbers, dtype=dtype), layout or ""


def _numbers(node: ast.expr) -> Any:
    """Like ast.literal_eval, but it also reads inf and nan."""
    if isinstance(node, ast.List):
        return [_numbers(e) for e in node.elts]
    if isinstance(node, ast.Name):
        return float(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Name):
        return -float(node.operand.id)
    return ast.literal_eval(node)


@cache
def oracle(name: str) -> ModuleType | None:
    """The module with the independent answer for an operator; None where there is none."""
    stem = name.replace(".", "_")
    exists = (_ORACLES / f"{stem}.py").exists()
    return importlib.import_module(f"oracles.{stem}") if exists else None


def oracle_calls(name: str, seed: int = 0) -> list[Call]:
    """The calls that the operator's oracle generates."""
    module = oracle(name)
    if module is None or not hasattr(module, "generate"):
        return []
    generated = module.generate(np.random.default_rng(seed))
    return [_oracle_call(name, i, *triple) for i, triple in enumerate(generated)]


def refused_calls(name: str) -> list[tuple[Call, str]]:
    """The wrong calls of which the operator's oracle knows, and words of their errors."""
    listed = getattr(oracle(name), "refused", tuple)()
    return [(_oracle_call(name, i, *call), words) for i, (*call, words) in enumerate(listed)]


def _oracle_call(name: str, i: int, inputs: Any, layouts: Any, arguments: Any) -> Call:
    letters = [layouts] * bool(inputs) if isinstance(layouts, str) else list(layouts)
    letters += [""] * (len(inputs) - len(letters))
    pairs = []
    for array, layout in zip(inputs, letters, strict=True):
        exact = np.asarray(array)
        narrow = _WIDE.get(str(exact.dtype))
        pairs.append((exact.astype(narrow).astype(exact.dtype) if narrow else exact, layout or ""))
    return Call(name, tuple(pairs), dict(arguments), f"oracle {i}")


def expected_by_oracle(
    call: Call, batch: Sequence[Sequence[Array]], chances: Sequence[Chance]
) -> list[list[Array]]:
    """The oracle's answer for each sample. Only random operators use `chances`."""
    module = oracle(call.op)
    assert module is not None
    layout = call.inputs[0][1] if call.inputs else ""
    is_random = operators()[call.op]["is_random"]
    if hasattr(module, "expected_batch"):
        draws = {"chances": chances} if is_random else {}
        return list(module.expected_batch(batch, layout, **draws, **call.arguments))
    found = []
    for inputs, chance in zip(batch, chances, strict=True):
        draw = {"chance": chance} if is_random else {}
        answer = module.expected(list(inputs), layout, **draw, **call.arguments)
        found.append(list(answer) if isinstance(answer, (list, tuple)) else [answer])
    return found


def batch_calls(name: str, seed: int = 0) -> list[tuple[Call, list[list[Array]]]]:
    """The calls with whole batches that the operator's oracle generates."""
    generated = getattr(oracle(name), "generate_batches", lambda rng: ())
    return [
        (_oracle_call(name, i, batch[0], *call), batch)
        for i, (batch, *call) in enumerate(generated(np.random.default_rng(seed)))
    ]


def refused_batches(name: str) -> list[tuple[Call, list[list[Array]], str]]:
    """The wrong calls with whole batches of which the oracle knows, and words of their errors."""
    listed = getattr(oracle(name), "refused_batches", tuple)()
    return [
        (_oracle_call(name, i, batch[0], *call), batch, words)
        for i, (batch, *call, words) in enumerate(listed)
    ]


@cache
def all_calls(name: str) -> tuple[Call, ...]:
    """The cases, a call with only the required arguments, and what the oracle generates."""
    cases = case_calls(name)
    required = [a["name"] for a in operators()[name]["arguments"] if a["required"]]
    bare = [
        replace(c, arguments={k: c.arguments[k] for k in required}, source="bare", expected=())
        for c in cases[:1]
    ]
    bare = [again for c in bare for again in repeated(c) if works(again)]
    return tuple(cases + bare + oracle_calls(name))


def repeated(call: Call) -> list[Call]:
    """The call; where its last port repeats, with its last input once, twice and three times."""
    ports = operators()[call.op]["inputs"]
    if not ports or not ports[-1]["repeats"]:
        return [call]
    single, last = call.inputs[: len(ports) - 1], call.inputs[-1]
    return [replace(call, inputs=(*single, *[last] * n)) for n in (1, 2, 3)]


@cache
def some_calls(name: str) -> tuple[Call, ...]:
    """All but the oracle's calls, and of those two for each argument and a few more."""
    own = [c for c in all_calls(name) if not c.source.startswith("oracle")]
    others = [c for c in all_calls(name) if c.source.startswith("oracle")]
    chosen = set(range(0, len(others), -(-len(others) // 8) or 1))
    for argument in operators()[name]["arguments"]:
        users = [i for i, c in enumerate(others) if argument["name"] in c.arguments]
        chosen.update(users[:2])
    return (*own, *[others[i] for i in sorted(chosen)])


@cache
def picture_calls(name: str) -> tuple[Call, ...]:
    """The calls of some_calls(), each on pictures with detail in the place of its first input."""
    op = operators()[name]
    ports = op["inputs"]
    if not ports:
        return ()
    found: list[Call] = []
    seen: list[Mapping[str, Any]] = []
    for call in some_calls(name):
        if not call.inputs or call.arguments in seen:
            continue
        seen.append(call.arguments)
        for inputs in picture_inputs(op):
            for array, layout in inputs:
                changed = replace(
                    call,
                    inputs=((array, layout), *([] if ports[0]["repeats"] else call.inputs[1:])),
                    source=f"{call.source} on a picture",
                    expected=(),
                )
                if works(changed) and not needs_constants(changed):
                    found += [again for again in repeated(changed) if works(again)]
                    break
    return tuple(found)


def needs_constants(call: Call) -> bool:
    """Whether a merge works only because a constant tells which of two kinds of sides it takes."""
    if call.op != "merge":
        return False
    kinds = {(array.dtype, array.ndim, layout) for array, layout in call.inputs[:2]}
    return len(kinds) > 1


def damaged_calls(name: str) -> list[Call]:
    """For an operator that decodes: calls on each encoded picture, sound or damaged.

    The call is the bare one, or some others where the operator has required arguments.
    """
    ports = operators()[name]["inputs"]
    if not ports or not ports[0]["is_value"]:
        return []
    calls = all_calls(name)
    some = [c for c in calls if c.source == "bare"] or [c for c in calls if len(c.inputs) == 1][:8]
    return [replace(c, inputs=((e, ""), *c.inputs[1:])) for c in some for e in encoded_pictures()]


def picture_inputs(op: Operator) -> list[list[tuple[Array, str]]]:
    """Groups of pictures. A test uses the first of each group that fits its call."""
    if op["inputs"][0]["is_value"]:
        return [[(e, "")] for e in encoded_pictures()]
    layouts = accepted_layouts(op)
    flat = [x for x in layouts if not set(x) & set("DF")]
    deep = [x for x in layouts if set(x) & set("DF")]
    return [
        [(texture(shape_of(x)), x) for x in flat],
        [(texture([min(e, 4) for e in shape_of(x)]), x) for x in flat],
        [(texture(shape_of(x)), x) for x in deep],
    ]


def shape_of(layout: str) -> list[int]:
    return [{"F": 3, "D": 4, "H": 13, "W": 18, "C": 3}[c] for c in layout]


def accepted_layouts(op: Operator) -> list[str]:
    """The layouts that the first input accepts; two examples where it accepts any."""
    listed = [x.strip() for x in op["inputs"][0]["layouts"].split(",") if x.strip()]
    return listed or ["HWC", "FHWC"]


@cache
def encoded_pictures() -> tuple[Array, ...]:
    """JPEG files: a plain one, one that EXIF turns, a tall one, and one that was cut off."""
    plain = jpegs.encode(jpegs.picture(37, 53, 1), "420")
    turned = jpegs.encode(jpegs.picture(37, 53, 1), "coarse", exif_orientation=6)
    tall = jpegs.encode(jpegs.picture(96, 40, 2), "444")
    files = (plain, turned, tall, jpegs.truncated(tall))
    return tuple(np.frombuffer(f, np.uint8) for f in files)


def texture(shape: Sequence[int], seed: int = 3) -> Array:
    """Noise on a slope, so that no two places look alike."""
    rng = np.random.default_rng(seed)
    slope = np.indices(shape).sum(0) * (160 / max(1, sum(shape)))
    return np.clip(slope + rng.integers(0, 96, shape), 0, 255).astype(np.uint8)


def works(call: Call) -> bool:
    """Whether the call can be built and run."""
    try:
        run_calls([call])
    except (RuntimeError, ValueError):
        return False
    return True


def run_calls(
    calls: Sequence[Call], *, vary: bool = True, **settings: Any
) -> list[tuple[Array, ...]]:
    """Runs one pipeline of all calls. Returns a tuple of arrays, one an output, for each sample."""
    return samples_of(pipeline(calls, vary=vary, **settings).run())


def run_with_inputs(call: Call, **settings: Any) -> list[tuple[tuple[Array, ...], ...]]:
    """Runs one call. Returns for each sample its inputs and its outputs."""

    def define() -> list[DataNode]:
        inputs = inputs_of(call)
        made = call_operator(operators()[call.op], inputs, call.arguments)
        return [*inputs, *outputs_of(made)]

    count = len(call.inputs)
    return [(s[:count], s[count:]) for s in samples_of(make(define, **settings).run())]


def pipeline(calls: Sequence[Call], *, vary: bool = True, **settings: Any) -> Pipeline:
    pipe = Pipeline(**{"batch_size": 1, "num_threads": 1, "seed": 7, **settings})
    with pipe:
        pipe.set_outputs(*place_all(calls, vary=vary))
    return pipe


def default_of(name: str, argument: str) -> Any:
    return next(a for a in operators()[name]["arguments"] if a["name"] == argument)["default"]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."
