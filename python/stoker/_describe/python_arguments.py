# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments that only an operator's Python function has, because the engine cannot call Python."""

from __future__ import annotations

from typing import TypedDict


class Extra(TypedDict):
    """An argument, with its annotation and default as Python writes them."""

    name: str
    annotation: str
    default: bool | int | str | None
    is_positional: bool  # may also be given by position
    help: str


def _extra(
    name: str, annotation: str, default: bool | int | str | None, text: str, first: bool = False
) -> Extra:
    return {
        "name": name,
        "annotation": annotation,
        "default": default,
        "is_positional": first,
        "help": text,
    }


# Arguments that Python takes in another form than the engine, by operator, with their annotation.
OTHERWISE: dict[str, dict[str, str]] = {
    "readers.tfrecord": {"features": "Mapping[str, Feature]"},
}

# What the constructors of operators' classes also take by position, in this order.
FIRSTS: dict[str, tuple[str, ...]] = {
    "dl_tensor_python_function": (
        *("function", "num_outputs", "device", "synchronize_stream", "batch_processing"),
    ),
    "external_source": ("source", "num_outputs"),
    "numba_function": (
        *("run_fn", "out_types", "in_types", "outs_ndim", "ins_ndim", "setup_fn"),
        *("device", "batch_processing", "blocks", "threads_per_block"),
    ),
    "python_function": ("function", "num_outputs", "device", "batch_processing"),
    "readers.tfrecord": ("path", "index_path", "features"),
    "torch_python_function": ("function", "num_outputs", "device", "batch_processing"),
}

EXTRA: dict[str, list[Extra]] = {
    "external_source": [
        _extra(
            "source",
            "Callable[..., Any] | Iterable[Any] | None",
            None,
            "Where batches come from: a callable of nothing or of one argument (the iteration, in "
            "sample mode a types.SampleInfo), an iterable, or a generator function. An epoch ends "
            "when it raises StopIteration or is exhausted. Without it, feed_input() feeds by name.",
            True,
        ),
        _extra(
            "num_outputs",
            "int | None",
            None,
            "How many outputs the source gives at once, as a tuple; then a list of nodes is "
            "returned, and dtype, ndim and layout may be lists. Default: one, not in a tuple.",
            True,
        ),
        _extra(
            "cycle",
            'Literal["no", "quiet", "raise"] | bool | None',
            None,
            "What follows the end of an iterable: 'no' (False, None): run() raises StopIteration "
            "until reset(); 'quiet' (True): it begins anew, unnoticed; 'raise': run() raises once, "
            "then it begins anew.",
        ),
        _extra(
            "batch",
            "bool",
            True,
            "Whether the source gives batches (a list of arrays, or an array with the batch "
            "first), or samples. A batch that StopIteration cuts short is dropped.",
        ),
        _extra(
            "batch_info",
            "bool",
            False,
            "Whether a callable of batches gets a types.BatchInfo instead of the iteration.",
        ),
        _extra(
            "parallel",
            "bool",
            False,
            "Run the source in the py_num_workers processes of the pipeline. A callable takes one "
            "argument and is called in several of them; an iterable runs in one.",
        ),
        _extra(
            "prefetch_queue_depth",
            "int | None",
            None,
            "Batches that worker processes prepare ahead, beyond those of the pipeline's own "
            "prefetch_queue_depth; default: 1. Only with parallel=True.",
        ),
    ]
}
_FUNCTION = _extra("function", "Callable[..., Any] | None", None, "The function. Required.")
_BATCH = _extra(
    "batch_processing",
    "bool",
    False,
    "Whether the function gets and returns lists of samples, else it is called for each sample.",
)
_STATEFUL = _extra(
    "stateful",
    "bool",
    False,
    "Whether the function keeps a state. It is then called once for a step, after all steps before "
    "were received. Its state() and restore(), or state_dict() and load_state_dict(), make it part "
    "of the pipeline's state.",
)
EXTRA["python_function"] = [_FUNCTION, _BATCH, _STATEFUL]
EXTRA["dl_tensor_python_function"] = [_FUNCTION, {**_BATCH, "default": True}, _STATEFUL]
EXTRA["torch_python_function"] = [_FUNCTION, _BATCH, _STATEFUL]
EXTRA["jax_function"] = [
    _FUNCTION,
    _extra(
        "sharding",
        "Any",
        None,
        "The jax.sharding.Sharding of the arrays that the function gets; default: they are on the "
        "CPU.",
    ),
    _STATEFUL,
]
EXTRA["numba_function"] = [
    _extra("run_fn", "Callable[..., Any] | None", None, "The function. Required."),
    _extra("setup_fn", "Callable[..., Any] | None", None, "Says the shapes of the outputs."),
    _BATCH,
]
