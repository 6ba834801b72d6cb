# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Stoker feeds accelerators: read, decode, augment, batch.

A pipeline is a graph of operators (``fn.*``, or ``ops.*`` as classes) that a function decorated
with ``pipeline_def`` wires up; iterating over the pipeline gives batches. ``types`` holds the
constants, ``errors`` the exceptions. ``math`` has functions of numbers, beside Python's operators
on nodes. ``auto_aug`` augments images automatically. ``images`` and ``sounds`` write samples to
files, and ``optimise`` rewrites JPEG files so that they are read faster. ``jpeg`` decodes JPEG
files without a pipeline.
"""

from __future__ import annotations

from stoker import _leak_warnings as _leak_warnings
from stoker import auto_aug, errors, fn, images, jpeg, math, ops, sounds, types
from stoker._codecs import Codec, codecs
from stoker._conditionals.branches import split
from stoker._conditionals.mark import do_not_convert
from stoker._core import Batch, Tensor, __version__
from stoker._devices import Device, devices, missing_gpu
from stoker._graph.node import DataNode, newaxis
from stoker._optimise import Optimised, optimise
from stoker._pipeline.pipeline import Pipeline
from stoker._pipeline.pipeline_def import pipeline_def
from stoker._show import show

__all__ = [
    "Batch",
    "Codec",
    "DataNode",
    "Device",
    "Optimised",
    "Pipeline",
    "Tensor",
    "__version__",
    "auto_aug",
    "codecs",
    "devices",
    "do_not_convert",
    "errors",
    "fn",
    "images",
    "jpeg",
    "math",
    "missing_gpu",
    "newaxis",
    "ops",
    "optimise",
    "pipeline_def",
    "show",
    "sounds",
    "split",
    "types",
]
