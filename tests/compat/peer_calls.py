# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of operators that run in both libraries, and how they and their results are written.

tools/record_peer_operators.py records what the established library makes of them, and
tests/compat/test_peer_operators.py compares. This module needs only NumPy, so that it also runs
where only that library is.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

# Of larger outputs only about so many values are written.
WRITTEN = 400
TIMES = 400  # how many samples are drawn of random operators
DTYPES = ["dtype", "output_dtype"]
NAMES = ["interp_type", "min_filter", "mag_filter", "image_type", "output_type"]


class PeerCall(NamedTuple):
    """A call. Each of `samples` holds an array for each input, and `layouts` theirs."""

    arguments: dict[str, Any]
    samples: list[list[Array]]
    layouts: list[str]


class Output(NamedTuple):
    """What came of an output: its layout, and an array for each sample."""

    layout: str
    samples: list[Array]


def run(library: Any, operator: str, call: PeerCall) -> list[Output]:
    """What the library makes of a call. The names are those of the established library."""
    function = library.fn
    for part in operator.split("."):
        function = getattr(function, part)
    arguments = {k: constant(library.types, k, v) for k, v in call.arguments.items()}

    def fed(i: int) -> Any:
        column = [sample[i] for sample in call.samples]
        layout = call.layouts[i] or None
        return library.fn.external_source(source=lambda: column, batch=True, layout=layout)

    @library.pipeline_def(batch_size=len(call.samples), num_threads=1, device_id=None, seed=11)
    def pipe() -> Any:
        made = function(*[fed(i) for i in range(len(call.layouts))], **arguments)
        return tuple(made) if isinstance(made, (list, tuple)) else made

    built = pipe()
    built.build()
    outputs = []
    for batch in built.run():
        layout = batch.layout() if callable(batch.layout) else batch.layout
        outputs.append(Output(layout, [np.array(batch[k]) for k in range(len(batch))]))
    return outputs


def constant(types: Any, name: str, value: Any) -> Any:
    """The value of an argument, where it is a constant of `types` there."""
    if isinstance(value, str) and name in DTYPES:
        return getattr(types, {"float32": "FLOAT"}.get(value, value.upper()))
    return getattr(types, value) if isinstance(value, str) and name in NAMES else value


def picture(dtype: str, shape: list[int], low: float, high: float) -> Array:
    """A slope with noise between two values."""
    count = math.prod(shape)
    noise = (np.arange(count, dtype=np.uint64) * np.uint64(2654435761) >> np.uint64(7)) % np.uint64(
        97
    )
    slope = np.indices(shape).sum(0).reshape(-1) / max(1, sum(shape))
    shares = (0.6 * slope + 0.4 * noise / 97).reshape(shape)
    return (low + (high - low) * shares).astype(dtype)


def shape_text(shape: tuple[int, ...]) -> str:
    return str(list(shape)).replace(" ", "")


def written(array: Array) -> str:
    """An array as a text: its dtype, its shape and its bytes; of a large one every n-th value."""
    step = -(-array.size // WRITTEN)
    while step % 2 == 0 or step % 3 == 0:  # else it would see one channel alone
        step += 1
    head = f"{array.dtype}{shape_text(array.shape)}"
    values = np.ascontiguousarray(array).reshape(-1)[::step]
    return f"{head}{f'/{step}' if step > 1 else ''}:{values.tobytes().hex()}"


class Read(NamedTuple):
    """What ``written()`` wrote: of a large array every `step`-th value, else all."""

    shape: tuple[int, ...]
    step: int
    values: Array


def read(text: str) -> Read:
    head, _, data = text.partition(":")
    head, _, step = head.partition("/")
    dtype, _, extents = head.rstrip("]").partition("[")
    shape = tuple(int(e) for e in extents.split(",") if e)
    return Read(shape, int(step or 1), np.frombuffer(bytes.fromhex(data), dtype))


def input_text(array: Array) -> str:
    """A whole input as a text."""
    return f"{array.dtype}{shape_text(array.shape)}:{np.ascontiguousarray(array).tobytes().hex()}"


def input_of(text: str) -> Array:
    """An input from its text, which may also be that of a ``picture()``."""
    if not text.startswith("picture "):
        found = read(text)
        return found.values.reshape(found.shape)
    head, low, high = text.removeprefix("picture ").split(" ")
    dtype, _, extents = head.rstrip("]").partition("[")
    return picture(dtype, [int(e) for e in extents.split(",")], float(low), float(high))


def call_of(entry: dict[str, Any]) -> PeerCall:
    """A recorded call."""
    samples = [[input_of(text) for text in texts] for texts in entry["samples"]]
    return PeerCall(entry["arguments"], samples * entry.get("times", 1), entry["layouts"])


def result_of(entry: dict[str, Any], outputs: list[Output]) -> list[dict[str, Any]]:
    """What is recorded of a call's outputs: their samples, or of random ones the features."""
    if "times" in entry:
        return [
            {"layout": o.layout, "dtype": str(o.samples[0].dtype), "features": features(o.samples)}
            for o in outputs
        ]
    return [{"layout": o.layout, "samples": [written(s) for s in o.samples]} for o in outputs]


def features(samples: list[Array]) -> str:
    """A row for each sample: its extents, and some numbers that its values have."""
    rows = []
    for sample in samples:
        flat = sample.reshape(-1).astype(np.float64)
        some = [0.0] * 6
        if flat.size:
            with np.errstate(invalid="ignore"):  # of infinities
                some = [flat.mean(), flat.std(), flat.min(), flat.max(), flat[0], flat[-1]]
        rows.append([*sample.shape, *some])
    return input_text(np.array(rows, np.float32))
