# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Draws trials: short Python texts, which pass odd things to operators of the registry."""

from __future__ import annotations

import ast
import itertools
import math
import random
import re
from typing import Any

import odd
import odd_words as words
from examining import STYLES

import stoker
from stoker import Pipeline, _core
from stoker._describe.registry import Argument, Operator, Port, operators
from stoker.ops._classes import class_name

# What sources give: the layout, what dtypes, and shapes of one rank.
PICTURE = ["uint8", "uint8", "float32", "int16"]
THEMES: dict[str, tuple[str, list[str], list[tuple[int, ...]]]] = {
    "picture": ("HWC", PICTURE, [(3, 4, 3), (5, 2, 3), (1, 1, 1)]),
    "file": ("", ["uint8"], [(40,)]),
    "list": ("", words.DTYPES, [(3,), (4,), (0,)]),
    "table": ("", words.DTYPES, [(2, 3), (0, 2), (1, 4)]),
    "number": ("", words.DTYPES, [()]),
}


def trial(seed: int, number: int) -> str:
    """The text of a trial; it follows from the two numbers."""
    return _Drawing(random.Random(f"{seed} {number}")).text()


class _Drawing:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._often = rng.choice((0.0, 0.03, 0.1, 0.3))  # how often something is odd
        self._is_odd = False  # whether something was odd since it was last set
        self._data: list[str] = []
        self._calls: list[str] = []
        self._sound: list[str] = []  # calls in which nothing is odd; inputs with their types
        self._nodes: list[str] = []
        self._sources: dict[str, str] = {}  # outputs that show what a source gives -> its data
        self._feeds: dict[str, str] = {}
        self._theme = rng.choices(list(THEMES), (5, 2, 2, 2, 1))[0]
        self._dtype = rng.choice(THEMES[self._theme][1])
        self._batch = rng.randint(1, 4)
        self._is_fed = rng.random() < 0.15

    def text(self) -> str:
        rng = self._rng
        steps = rng.randint(1, 5)
        settings = self._settings()
        for _ in range(rng.choice((1, 1, 1, 2))):
            self._add_input()
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            self._add_operator()
        outputs = [n for n in self._nodes if rng.random() < 0.6] or self._nodes[-1:]
        outputs = [words.one(rng, words.OUTPUTS) if self._odd(0.1) else n for n in outputs]
        run = [f"pipe, {steps}"]
        given = {i: self._sources[n] for i, n in enumerate(outputs) if n in self._sources}
        if given and "on_error" not in settings:
            run.append("given={" + ", ".join(f"{i}: {d}" for i, d in given.items()) + "}")
        if self._feeds:
            run.append("feeds={" + ", ".join(f"{n}: {d}" for n, d in self._feeds.items()) + "}")
        stranger = ["with make(batch_size=1):", "    stranger = fn.random.uniform()"]
        uses = [*self._calls, *self._data, *run]
        lines = [
            f"ways = [{', '.join(self._way() for _ in range(3))}]",
            *self._data,
            *(stranger if any("stranger" in part for part in (settings, *outputs, *uses)) else []),
            f"pipe = make({settings})",
            "with pipe:",
            *(f"    {call}" for call in self._calls),
            f"pipe.set_outputs({', '.join(outputs)})",
            f"run({', '.join(run)})",
        ]
        return "\n".join(lines) + "\n"

    def _odd(self, share: float = 1.0) -> bool:
        is_odd = self._rng.random() < self._often * share
        self._is_odd |= is_odd
        return is_odd

    def _way(self) -> str:
        rng = self._rng
        way: dict[str, Any] = {
            "num_threads": rng.randint(1, 4),
            "prefetch_queue_depth": rng.randint(1, 4),
        }
        if rng.random() < 0.3:
            way["executor"] = "simple"
        for flag in ("fuse", "demand"):
            if rng.random() < 0.3:
                way[flag] = False
        if rng.random() < 0.3:
            way["style"] = rng.choice(STYLES)
        if rng.random() < 0.3:
            way["plain"] = True
        for moment in ("rewind", "close"):
            if rng.random() < 0.2:
                way[moment] = rng.randint(0, 3)
        return f"dict({_keywords(way)})"

    def _settings(self) -> str:
        given = {"batch_size": self._same(self._batch, "int")}
        if self._rng.random() < 0.2:
            given["on_error"] = self._rng.choice(("'skip'", "'replace'", "'raise'"))
        if self._odd():
            names = [s["name"] for s in _core.settings()] + list(words.PYTHON_SETTINGS)
            given[self._rng.choice(names)] = words.one(self._rng, words.ARGUMENTS)
        return ", ".join(f"{name}={value}" for name, value in given.items())

    # Inputs.

    def _add_input(self) -> None:
        rng = self._rng
        k = len(self._data)
        is_batch = rng.random() < 0.6
        count = rng.choice((None, None, None, 1, 2)) if not self._is_fed else None
        batches = [self._given(count, is_batch) for _ in range(rng.randint(1, 4))]
        if not is_batch and not self._is_fed:
            batches *= self._batch
        self._data.append(f"d{k} = lambda: [{', '.join(batches)}]")
        arguments: dict[str, str] = {"name": f"'in{k}'"}
        kind = "fed"
        if not self._is_fed:
            kind = rng.choice(words.SOURCES if not self._odd() else words.ODD_SOURCES)
            arguments |= self._of_source(kind, is_batch, count)
        if rng.random() < 0.3:
            arguments["dtype"] = repr(self._dtype)
        if THEMES[self._theme][0] and rng.random() < 0.9:
            arguments["layout"] = repr(THEMES[self._theme][0])
        for name in ("no_copy", "blocking", "repeat_last"):
            if rng.random() < 0.05 and (self._is_fed or name == "no_copy"):
                arguments[name] = self._same(name == "no_copy", "bool")
        op = operators()["external_source"]
        if self._odd():
            names = [a["name"] for a in op["arguments"]] + [e["name"] for e in op["extra"]]
            arguments[rng.choice([*names, "device", "name"])] = words.one(rng, words.ARGUMENTS)
        first = [] if self._is_fed or "source" in arguments else [f"source({kind!r}, d{k})"]
        call = ", ".join([*first, *(f"{n}={v}" for n, v in arguments.items())])
        made = [f"n{len(self._nodes) + i}" for i in range(count or 1)]
        self._calls.append(f"{', '.join(made)}{',' * (count == 1)} = fn.external_source({call})")
        self._nodes += made
        layout, _, shapes = THEMES[self._theme]
        declared = f"dtype={self._dtype!r}, ndim={len(shapes[0])}, layout={layout!r}"
        self._sound += [f"{n} = fn.external_source({declared})" for n in made]
        plain = is_batch and count is None and "cycle" not in arguments
        if self._is_fed:
            name = f"'in{k}'" if not self._odd(0.3) else words.one(rng, words.FED)
            plain = plain and name == arguments["name"]
            self._feeds[name] = f"d{k}"
        if plain and kind in words.REPEATABLE:
            self._sources[made[0]] = f"d{k}"

    def _of_source(self, kind: str, is_batch: bool, count: int | None) -> dict[str, str]:
        rng = self._rng
        found: dict[str, str] = {}
        if not is_batch:
            found["batch"] = "False"
        elif rng.random() < 0.1:
            found["batch_info"] = "True"
        if count is not None:
            found["num_outputs"] = str(count)
        if rng.random() < 0.2 and kind in ("iterable", "generator", "list"):
            found["cycle"] = rng.choice(("'quiet'", "'raise'", "True", "'no'"))
        if rng.random() < 0.01:
            found["parallel"] = "True"
        return found

    def _given(self, count: int | None, is_batch: bool) -> str:
        """What a source gives at once."""
        if self._odd(0.3):
            return f"Fail({words.one(self._rng, words.FAILURES)})"
        if count is not None and self._odd(0.2):
            count += self._rng.choice((-1, 1))
        one = self._batch_text if is_batch else self._sample_text
        if count is None:
            return one()
        return f"({', '.join(one() for _ in range(count))}{',' * (count == 1)})"

    def _batch_text(self) -> str:
        rng = self._rng
        if self._odd(0.3):
            return words.one(rng, words.BATCHES)
        size = self._batch if not self._odd(0.2) else rng.randint(0, 6)
        samples = [self._sample_text() for _ in range(size)]
        form = rng.random()
        if form < 0.1 and self._theme != "file":
            shape = rng.choice(THEMES[self._theme][2])
            whole = f"array({self._dtype!r}, {(size, *shape)!r}, {rng.randint(0, 99)})"
            return words.form(rng, whole, len(shape) + 1)
        return f"({', '.join(samples)},)" if form < 0.2 and samples else f"[{', '.join(samples)}]"

    def _sample_text(self) -> str:
        rng = self._rng
        if self._odd(0.4):
            return words.one(rng, words.SAMPLES)
        _, dtypes, shapes = THEMES[self._theme]
        if self._theme == "file":
            file = f"jpeg({rng.randint(1, 30)}, {rng.randint(1, 30)}, {rng.randint(0, 99)})"
            return rng.choice((file, file, f"{file}.tobytes()", f"{file}[:60]"))
        dtype = rng.choice(dtypes) if self._odd(0.3) else self._dtype
        shape = rng.choice(shapes)
        text = f"array({dtype!r}, {shape!r}, {rng.randint(0, 99)})"
        return words.form(rng, text, len(shape)) if rng.random() < 0.5 else text

    # Operators.

    def _add_operator(self) -> None:
        """Draws again what is refused although nothing in it is odd; mostly, not always."""
        for _ in range(6):
            self._is_odd = False
            count, call = self._operator_call()
            made = ", ".join(f"n{len(self._nodes) + i}" for i in range(count))
            line = f"{made} = {call}"
            if self._is_odd or self._rng.random() < 0.1 or _is_good([*self._sound, line]):
                break
        self._calls.append(line)
        if not self._is_odd:
            self._sound.append(line)
        self._nodes += made.split(", ")

    def _operator_call(self) -> tuple[int, str]:
        rng = self._rng
        fitting = [
            op
            for op in operators().values()
            if op["kind"] not in ("input", "read", "user_code")
            and (not op["inputs"] or op["inputs"][0]["is_value"] == (self._theme == "file"))
        ]
        op = rng.choice(fitting)
        inputs = [
            self._input()
            for port in op["inputs"]
            if self._wants(port)
            for _ in range(rng.randint(1, 3) if port["repeats"] else 1)
        ]
        arguments = dict(self._argument(op, a) for a in op["arguments"] if self._has(op, a))
        if self._odd(0.3):
            name = rng.choice(("name", "device", "seed", "preserve", "bytes_per_sample_hint"))
            arguments[name] = words.one(rng, words.ARGUMENTS)
        if op["is_random"] and "seed" not in arguments:
            arguments["seed"] = str(rng.randint(0, 9))
        given = [f"{name}={value}" for name, value in arguments.items()]
        call = f"fn.{op['name']}({', '.join(inputs + given)})"
        if rng.random() < 0.1:
            call = f"ops.{class_name(op['name'])}({', '.join(given)})({', '.join(inputs)})"
        there = {p["name"] for p, _ in zip(op["inputs"], inputs, strict=False)}
        return sum(_times_there(port, op, arguments, there) for port in op["outputs"]), call

    def _wants(self, port: Any) -> bool:
        return not port["is_optional"] or self._rng.random() < 0.1

    def _input(self) -> str:
        if self._odd(0.3):
            return words.one(self._rng, words.INPUTS + words.ARGUMENTS)
        return self._rng.choice(self._nodes)

    def _has(self, op: Operator, argument: Argument) -> bool:
        return argument["required"] or self._rng.random() < 1.5 / len(op["arguments"])

    def _argument(self, op: Operator, argument: Argument) -> tuple[str, str]:
        rng, name = self._rng, argument["name"]
        decisive = [(p["when"].partition("!=")[0], p["for_each"]) for p in op["outputs"]]
        if any(name in names for names in decisive):
            return name, repr(self._value(argument))  # plain: so many nodes there will be
        if self._odd():
            return name, words.one(rng, words.ARGUMENTS)
        if argument["per_sample"] and rng.random() < 0.05:
            return name, rng.choice(self._nodes)
        cases = [m[1] for c in op["cases"] for m in [_in_case(name, c["call"])] if m]
        if cases and rng.random() < 0.3:
            return name, rng.choice(cases)
        value = self._value(argument)
        return name, self._same(value, argument["type"])

    def _value(self, argument: Argument) -> Any:
        rng, kind = self._rng, argument["type"]
        if argument["names"]:
            return rng.choice(argument["names"])
        if kind.startswith("Sequence["):
            one = {**argument, "type": kind[len("Sequence[") : -1]}
            return [self._value(one) for _ in range(rng.randint(1, 3))]  # type: ignore[arg-type]
        if kind == "bool":
            return rng.random() < 0.5
        if kind == "DType":
            return rng.choice(words.DTYPES)
        if kind == "str":
            return rng.choice(("HWC", "CHW", "HW", "W"))
        low, high = max(argument["low"], -3), min(argument["high"], 6)
        low, high = (low, high) if low <= high else (argument["low"], argument["low"])
        if kind == "float":
            return float(rng.randint(math.floor(4 * low), math.floor(4 * high)) / 4)
        return rng.randint(math.ceil(low), math.floor(high))

    def _same(self, value: Any, kind: str) -> str:
        """The value in its usual form, or in another that must have the same effect."""
        if self._rng.random() < 0.6:
            return repr(value)
        return f"same({words.spelled(self._rng, value, kind)}, {value!r})"


def _is_good(calls: list[str]) -> bool:
    """Whether Stoker takes these calls."""
    names = {**vars(odd), "same": lambda unusual, plain: plain}
    try:
        with Pipeline(batch_size=1) as pipe:
            exec("\n".join(calls), names)
            pipe.set_outputs(*(names[n] for n in names if re.fullmatch(r"n\d+", n)))
        pipe._definition.output_types()
    except (stoker.errors.Error, NameError):  # a call before this one was odd
        return False
    return True


def _times_there(port: Port, op: Operator, arguments: dict[str, str], there: set[str]) -> int:
    """How many outputs the port stands for. These arguments are plain; `there` are the inputs."""

    def value(name: str) -> Any:
        default = next(a["default"] for a in op["arguments"] if a["name"] == name)
        return ast.literal_eval(arguments.get(name, repr(default)))

    what, _, other = port["when"].partition("!=")
    if what:
        is_input = any(p["name"] == what for p in op["inputs"])
        found = what in there if is_input else value(what)
        if not found or found == other:
            return 0
    times = value(port["for_each"]) if port["for_each"] else 1
    return times if isinstance(times, int) else len(times)


def _in_case(name: str, call: str) -> re.Match[str] | None:
    value = r"""\[[^\]]*\]|'[^']*'|"[^"]*"|[^,\[\]]+"""
    return re.search(rf"\b{name}=({value})", call)


def _keywords(given: dict[str, Any]) -> str:
    return ", ".join(itertools.starmap("{}={!r}".format, given.items()))
