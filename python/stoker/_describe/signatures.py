# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""An operator's Python signature and docstring, for functions, stubs and pages of the docs."""

from __future__ import annotations

import itertools
import math
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from stoker import launcher
from stoker._describe.python_arguments import FIRSTS, OTHERWISE
from stoker._describe.registry import Argument, Operator, Plain, Port

if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Iterable, Sequence

# What a docstring says of operators that see whole batches.
_BATCHES = {
    "always": "Results depend on the whole batch: on which samples are in it, and so on batch_size "
    "and the number of shards. A failure here fails the batch.",
    "perhaps": "With some arguments, as said above, results depend on the whole batch: on which "
    "samples are in it, and so on batch_size and the number of shards. A failure then fails the "
    "batch.",
}

_SCALARS = {"bool": "bool", "int": "int", "float": "float", "str": "Text", "DType": "DTypeLike"}


Flags = dict[str, bool]


class Parameter(NamedTuple):
    """A parameter of an operator's function.

    ``is_positional``: given by position only. ``is_first``: given by position or by name.
    ``is_ignored``: accepted without effect. ``repeats``: by position, once or more often.
    """

    name: str
    annotation: str
    default: Plain = None
    is_required: bool = False
    is_positional: bool = False
    is_ignored: bool = False
    is_first: bool = False
    repeats: bool = False

    @property
    def shown_name(self) -> str:
        """The name as a signature shows it."""
        return "*" * self.repeats + self.name


def annotation(argument: Argument) -> str:
    """The type as Python writes it, e.g. ``float | Sequence[float] | DataNode | None``."""
    kind = argument["type"]
    parts = []
    if argument["names"]:
        parts.append("Literal[" + ", ".join(f'"{n}"' for n in argument["names"]) + "]")
        if kind in ("ImageType", "InterpType"):
            parts.insert(0, f"types.{kind}")
    elif kind.startswith("Sequence["):
        element = _SCALARS.get(kind[len("Sequence[") : -1], "Text")
        parts += [element, f"Sequence[{element}]"] + ([] if element == "Text" else ["Array"])
    else:
        parts.append(_SCALARS.get(kind, "Text"))
    if argument["per_sample"]:
        parts.append("DataNode")
    if not argument["required"]:
        parts.append("None")
    return " | ".join(parts)


def parameters(op: Operator) -> list[Parameter]:
    """All parameters in order: inputs by position, then keywords."""
    taken = {a["name"] for a in op["arguments"]} | {"device", "name", "seed", "lead"}
    result = [
        Parameter(
            _free(port["name"], taken),
            "Input" + (" | None" if port["is_optional"] else ""),
            is_required=not port["is_optional"],
            is_positional=True,
            repeats=port["repeats"],
        )
        for port in op["inputs"]
    ]
    for e in op["extra"]:
        result.append(
            Parameter(e["name"], e["annotation"], e["default"], is_first=e["is_positional"])
        )
    otherwise = OTHERWISE.get(op["name"], {})
    for a in op["arguments"]:
        text = otherwise.get(a["name"], annotation(a))
        if op["kind"] == "read" and a["name"] in launcher.SHARD_ARGUMENTS:
            text = f'Literal["{launcher.AUTO}"] | {text}'
        result.append(Parameter(a["name"], text, a["default"], a["required"]))
    have = {p.name for p in result}
    devices = ", ".join(f'"{d}"' for d in op["devices"])
    extra = [
        Parameter("device", f"Literal[{devices}] | None"),
        Parameter("name", "str | None"),
    ]
    if op["is_random"]:
        extra.append(Parameter("seed", "int | None"))
    if op["kind"] == "read":
        extra.append(Parameter("lead", "bool", False))
    for name in op["ignored"]:
        extra.append(Parameter(name, "object", is_ignored=True))
    for p in extra:
        if p.name not in have:
            have.add(p.name)
            result.append(p)
    return result


def class_parameters(op: Operator) -> list[Parameter]:
    """Those of the constructor of the operator's class: no inputs, and some first."""
    named = {p.name: p for p in parameters(op) if not p.is_positional}
    firsts = [named.pop(name)._replace(is_first=True) for name in FIRSTS.get(op["name"], ())]
    return [*firsts, *named.values()]


def positional(shown: Sequence[Parameter], text: Callable[[Parameter], str]) -> list[str]:
    """The parameters by position as Python writes them, up to the star before the keywords."""
    written = [text(p) for p in shown if p.is_positional and not p.repeats]
    if written:
        written.append("/")
    written += [text(p) for p in shown if p.is_first]
    return written + ([text(p) for p in shown if p.repeats] or ["*"])


def signature(op: Operator) -> inspect.Signature:
    """The signature that ``inspect.signature`` shows for the operator's function."""
    import inspect  # not at the top: it is slow

    shown = []
    for p in parameters(op):
        kind: Any = inspect.Parameter.KEYWORD_ONLY
        if p.repeats:
            kind = inspect.Parameter.VAR_POSITIONAL
        elif p.is_positional:
            kind = inspect.Parameter.POSITIONAL_ONLY
        elif p.is_first:
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = inspect.Parameter.empty if p.is_required else p.default
        shown.append(inspect.Parameter(p.name, kind, default=default, annotation=p.annotation))
    return inspect.Signature(shown, return_annotation=returns(op))


def class_signature(op: Operator) -> inspect.Signature:
    """The signature of the operator's class: it has no inputs and requires no argument."""
    import inspect

    either, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [
            inspect.Parameter(
                p.name,
                either if p.is_first else keyword,
                default=p.default,
                annotation=p.annotation,
            )
            for p in class_parameters(op)
        ]
    )


def returns(op: Operator) -> str:
    """The annotation of the result."""
    if op["kind"] == "input":
        return "DataNode | list[DataNode]"
    return " | ".join(dict.fromkeys(result for _, result in results(op)))


def results(op: Operator) -> list[tuple[Flags, str]]:
    """The annotation of the result for each setting of the flags that outputs depend on."""
    if any(port["for_each"] or "!=" in port["when"] for port in op["outputs"]):
        return [({}, "Any")]  # a node or a tuple of them
    if any(_is_input(op, port["when"]) for port in op["outputs"]):
        return [({}, "tuple[DataNode, ...]")]
    flags = list(dict.fromkeys(port["when"] for port in op["outputs"] if port["when"]))
    found = []
    for values in itertools.product([False, True], repeat=len(flags)):
        given = dict(zip(flags, values, strict=True))
        count = sum(given.get(port["when"], True) for port in op["outputs"])
        several = "tuple[" + ", ".join(["DataNode"] * count) + "]"
        found.append((given, {0: "None", 1: "DataNode"}.get(count, several)))
    return found


def _is_input(op: Operator, name: str) -> bool:
    return any(port["name"] == name for port in op["inputs"])


def docstring(op: Operator) -> str:
    """The whole docstring: summary, inputs, outputs, arguments."""
    lines = [wrapped(paragraph) for paragraph in op["summary"].splitlines()]
    if op["sees_batch"] in _BATCHES:
        lines += ["", wrapped(_BATCHES[op["sees_batch"]])]
    names = [p.shown_name for p in parameters(op) if p.is_positional]
    for title, ports in (("Inputs", op["inputs"]), ("Outputs", op["outputs"])):
        if ports:
            lines += ["", f"{title}:"]
        for i, port in enumerate(ports):
            name = names[i] if title == "Inputs" else port["name"]
            lines.append(entry(f"{name}: {_joined(port['help'], port_facts(op, port))}"))
    if op["arguments"]:
        lines += ["", "Arguments:"]
    for e in op["extra"]:
        lines.append(entry(f"{e['name']} (default {e['default']!r}): {e['help']}"))
    for a in op["arguments"]:
        lines.append(entry(f"{a['name']} ({', '.join(argument_facts(a))}): {a['help']}"))
    if op["ignored"]:
        lines += ["", wrapped("Accepted without effect: " + ", ".join(op["ignored"]) + ".")]
    return "\n".join(lines)


def port_facts(op: Operator, port: Port) -> list[str]:
    """The dtypes and layouts of a port, and whether it is optional, in words."""
    facts = []
    if port["dtypes"]:
        facts.append(port["dtypes"])
    if port["layouts"]:
        facts.append("layout " + port["layouts"])
    if port["is_optional"]:
        facts.append("optional")
    if port["repeats"]:
        facts.append("one or more")
    if port["when"]:
        name, sign, value = port["when"].partition("!=")
        is_input = _is_input(op, name)
        if sign:
            facts.append(f"unless {name}={value}")
        else:
            facts.append(f"with {name}" + ("" if is_input else "=True"))
    if port["for_each"]:
        facts.append(f"as often as {port['for_each']} says")
    return facts


def argument_facts(a: Argument) -> list[str]:
    """The type, default and range of an argument and whether it may vary, in words."""
    facts = ["one of " + ", ".join(a["names"]) if a["names"] else a["type"]]
    facts.append("required" if a["required"] else f"default {a['default']!r}")
    if text := range_text(a):
        facts.append(text)
    if a["per_frame"]:
        facts.append("per sample or frame")
    elif a["per_sample"]:
        facts.append("per sample")
    return facts


def range_text(a: Argument) -> str:
    """The range in words; "" when everything is allowed."""
    low, high = _number(a["low"]), _number(a["high"])
    if math.isfinite(a["low"]) and math.isfinite(a["high"]):
        return f"{low} to {high}"
    if math.isfinite(a["low"]):
        return f"at least {low}"
    return f"at most {high}" if math.isfinite(a["high"]) else ""


def _number(x: float) -> str:
    return str(int(x)) if x.is_integer() else f"{x:g}"


def python_definition(name: str, shown: Iterable[str], result: str, body: str) -> str:
    """A function with these parameters as Python writes it."""
    lines = ",\n".join(f"    {text}" for text in shown)
    return f"def {name}(\n{lines}\n) -> {result}:\n    {body}\n"


def wrapped(text: str) -> str:
    """A paragraph of a docstring."""
    return textwrap.fill(text, 88, break_long_words=False, break_on_hyphens=False)


def entry(text: str) -> str:
    """An item of a list in a docstring; all its lines but the first are indented further."""
    return textwrap.indent(wrapped(text), "        ").replace("        ", "    ", 1)


def _free(name: str, taken: set[str]) -> str:
    return f"{name}_input" if name in taken else name


def _joined(text: str, facts: list[str]) -> str:
    return f"{text} ({'; '.join(facts)})" if facts else text
