# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The table of the arguments of iterators and datasets, and which kind of iterator has which.

Constructors with their signatures, docstrings and stubs follow from it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from stoker._describe.signatures import entry, python_definition, wrapped


class Argument(NamedTuple):
    """One argument; type and default as Python writes them.

    Without ``default`` it must be given. Without ``help`` it is accepted without effect.
    """

    annotation: str
    default: str = ""
    help: str = ""


class Kind(NamedTuple):
    """A kind of iterator: its name in messages, and its arguments.

    Those before the star may be given by position. ``name=value`` is another default than the
    table's. ``own`` has the rows that differ from the table's.
    """

    name: str
    arguments: str
    own: Mapping[str, Argument] = {}


_DTYPES_HELP = "The types that the tensors must have: one for all outputs, or a tuple."
_SHAPES_HELP = (
    "The shapes that they must have, for those that the pipeline knows only when it runs."
)

ARGUMENTS = {
    "pipelines": Argument("Pipeline | Sequence[Pipeline]", help="One pipeline, or a list of them."),
    "pipeline": Argument("Pipeline", help="The pipeline."),
    "output_map": Argument("Sequence[str]", help="A name for each output."),
    "size": Argument("int", "-1", "How many samples an epoch has in all these pipelines together."),
    "reader_name": Argument(
        "str | None", "None", "The reader whose samples make the epoch, in the place of size."
    ),
    "last_batch_policy": Argument(
        "LastBatchPolicy", "LastBatchPolicy.FILL", "What happens to an epoch's last batch."
    ),
    "last_batch_padded": Argument(
        "bool", "False", "Together with size: whether the reader has pad_last_batch."
    ),
    "fill_last_batch": Argument(
        "bool | None", "None", "Deprecated; True means FILL and False means PARTIAL."
    ),
    "auto_reset": Argument(
        "str | bool | None",
        "False",
        'With True or "yes" the end of an epoch begins the next one; with False or "no", reset() '
        "or a new loop does.",
    ),
    "prepare_first_batch": Argument(
        "bool", "True", "True prepares batches from now on, False from the first step on."
    ),
    "compare_ranks": Argument(
        "bool",
        "True",
        "Whether sharded readers are compared over the ranks of torch.distributed if that is in "
        "use. This is a collective call: all ranks must make such an iterator, or none.",
    ),
    "dynamic_shape": Argument("bool | None", "False"),
    "ragged": Argument(
        "Sequence[str]",
        "()",
        "Names of outputs that are given as a list of tensors, one per sample.",
    ),
    # Of one framework alone.
    "pin_memory": Argument(
        "bool",
        "False",
        "Whether each tensor on the CPU is copied into pinned memory, for .to(device, "
        "non_blocking=True).",
    ),
    "output_types": Argument(
        "Sequence[str] | None", "None", "A tag for each output; None is DENSE_TAG for all."
    ),
    "sharding": Argument(
        "jax.sharding.Sharding | None",
        "None",
        "Makes each output one array over several devices, so that a step is one dict even for a "
        "list of pipelines. There must be a pipeline for each block of rows that the sharding puts "
        "on this process's devices, in the order of the rows.",
    ),
    "device": Argument(
        "jax.Device | None",
        "None",
        "Where the arrays go without a sharding; None is JAX's default device, to which arrays are "
        "not committed, so JAX may move them to where a computation runs.",
    ),
    "devices": Argument(
        "Sequence[jax.Device] | None",
        "None",
        "Without a sharding, the outputs of several pipelines are stacked on a new leading axis, "
        "as jax.pmap takes them, with one entry on each of these devices; None is the first of "
        "this process's devices, or where it has only one, all on that.",
    ),
    "pmap_compatible": Argument(
        "bool | None",
        "None",
        "Without a sharding, whether the outputs of a single pipeline get a new leading axis too, "
        "as those of several always do; None: where devices are given.",
    ),
    "data_layout": Argument(
        "str", '"NCHW"', "The layout that provide_data tells for data outputs."
    ),
    "squeeze_labels": Argument("bool", "True", "Whether labels lose their axes of extent 1."),
    "data_name": Argument("str", '"data"', "The name of the data output."),
    "label_name": Argument("str", '"softmax_label"', "The name of the label output."),
    "epochs": Argument(
        "int | None",
        "1",
        "How many epochs an iterator lasts; None: it never ends, and the next one goes on where it "
        "was left.",
    ),
    "output_dtypes": Argument("Any", "None", _DTYPES_HELP),
    "output_shapes": Argument("Any", "None", _SHAPES_HELP),
    "dtypes": Argument("Any", "None", "Another name of output_dtypes."),
    "shapes": Argument("Any", "None", "Another name of output_shapes."),
    "batch_size": Argument("int | None", "None", "Must be the pipeline's, which None is."),
    "fail_on_device_mismatch": Argument("bool", "True"),
    # Settings that the pipeline of a dataset has already.
    "num_threads": Argument("int", "4"),
    "device_id": Argument("int", "0"),
    "exec_separated": Argument("bool", "False"),
    "exec_dynamic": Argument("bool", "False"),
    "prefetch_queue_depth": Argument("Any", "2"),
    "cpu_prefetch_queue_depth": Argument("int", "2"),
    "gpu_prefetch_queue_depth": Argument("int", "2"),
}

_LOOPING = """pipelines output_map * reader_name size last_batch_policy auto_reset=True ragged
    prepare_first_batch compare_ranks"""
_GENERIC = """auto_reset fill_last_batch dynamic_shape last_batch_padded last_batch_policy
    prepare_first_batch * compare_ranks"""
_JAX = """size reader_name auto_reset last_batch_padded last_batch_policy prepare_first_batch
    sharding"""
_MXNET = """data_layout fill_last_batch auto_reset squeeze_labels dynamic_shape last_batch_padded
    last_batch_policy prepare_first_batch * compare_ranks"""

KINDS = {
    "Looping": Kind("DataIterator", _LOOPING),
    "Generic": Kind("DALIGenericIterator", f"pipelines output_map size reader_name {_GENERIC}"),
    "Classification": Kind("DALIClassificationIterator", f"pipelines size reader_name {_GENERIC}"),
    "TorchLooping": Kind("DataIterator", f"{_LOOPING} pin_memory"),
    "TorchRagged": Kind(
        "DALIRaggedIterator", f"pipelines output_map size reader_name output_types {_GENERIC}"
    ),
    "JaxLooping": Kind("DataIterator", f"{_LOOPING} sharding device"),
    "JaxGeneric": Kind(
        "DALIGenericIterator",
        f"pipelines output_map {_JAX} pmap_compatible * devices compare_ranks",
    ),
    "JaxDecorator": Kind("data_iterator", f"output_map=() {_JAX} devices pmap_compatible"),
    "MxnetGeneric": Kind(
        "DALIGenericIterator",
        f"pipelines output_map size reader_name {_MXNET}",
        {
            "output_map": Argument(
                "Sequence[tuple[str, str]]",
                help="A (name, tag) for each output. The tag is DATA_TAG or LABEL_TAG and says "
                "whether the output goes to batch.data or batch.label.",
            )
        },
    ),
    "MxnetClassification": Kind(
        "DALIClassificationIterator",
        f"pipelines size reader_name data_name label_name {_MXNET}",
    ),
    "TensorflowLooping": Kind(
        "Dataset",
        """pipeline output_map * epochs reader_name size last_batch_policy output_dtypes
        output_shapes prepare_first_batch""",
        {
            "output_map": Argument(
                "Sequence[str] | None",
                "None",
                "The names of the outputs, for elements that are dicts. Without names elements are "
                "tuples, or the tensor itself if the pipeline has one output.",
            )
        },
    ),
    "TensorflowGeneric": Kind(
        "DALIDataset",
        """pipeline output_dtypes output_shapes fail_on_device_mismatch * batch_size num_threads
        device_id exec_separated exec_dynamic prefetch_queue_depth cpu_prefetch_queue_depth
        gpu_prefetch_queue_depth dtypes shapes""",
    ),
}


@cache
def arguments_of(kind: str) -> dict[str, Argument]:
    """The arguments of a kind by name, in order, and "*" where those by name alone begin."""
    found = {}
    for text in KINDS[kind].arguments.split():
        name, _, default = text.partition("=")
        row = KINDS[kind].own.get(name) or ARGUMENTS.get(name, Argument(""))
        found[name] = row._replace(default=default) if default else row
    return found


def init_text(kind: str, body: str) -> str:
    """The definition of the kind's ``__init__`` as Python writes it."""
    shown = [name if name == "*" else _parameter(name, a) for name, a in arguments_of(kind).items()]
    return python_definition("__init__", ["self", *shown], "None", body)


def _parameter(name: str, argument: Argument) -> str:
    return f"{name}: {argument.annotation}" + (f" = {argument.default}" if argument.default else "")


def with_arguments(doc: str, kind: str) -> str:
    """The docstring of a class, with all arguments of the kind in words behind it."""
    lines, ignored = ["Arguments:"], []
    for name, a in arguments_of(kind).items():
        if a.help:
            fact = f" (default {a.default})" if a.default else ""
            lines.append(entry(f"{name}{fact}: {a.help}"))
        elif name != "*":
            ignored.append(name)
    if ignored:
        lines += ["", wrapped(f"Accepted without effect: {', '.join(ignored)}.")]
    text = textwrap.indent("\n".join(lines), "    ")
    return f"{doc.rstrip()}\n\n{text}\n"
