# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of given arrays, and what is computed of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from helpers import Array, make, samples_of
from stoker import DataNode, fn


def node(array: Any, layout: str | None = None) -> DataNode:
    """A node that gives the array for every sample."""
    fed = np.asarray(array)
    return fn.external_source(
        source=lambda: fed, batch=False, dtype=str(fed.dtype), ndim=fed.ndim, layout=layout
    )


def results(define: Callable[[], Any], **settings: Any) -> tuple[Array, ...]:
    """The outputs for one sample."""
    pipe = make(define, **{"num_threads": 1, **settings})
    return samples_of([b if b.device == "cpu" else b.as_cpu() for b in pipe.run()])[0]


def result(define: Callable[[], Any], **settings: Any) -> Array:
    return results(define, **settings)[0]


def nodes_of(define: Callable[[], Any], **settings: Any) -> list[str]:
    """The names of the nodes of a graph."""
    pipe = make(define, **settings)
    return [str(n["name"]) for n in pipe._definition.graph.nodes()]
