# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""``fn.readers.tfrecord``, which takes a dict of features and returns a dict of nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoker import tfrecord
from stoker._describe.registry import Operator
from stoker._graph.calls import place_of
from stoker._graph.functions import call, document
from stoker._graph.outside import anywhere

Result = dict[str, Any]


def make_function(op: Operator) -> Callable[..., Result]:
    """Makes the function, with its signature and docstring."""

    @anywhere
    def function(*inputs: Any, **arguments: Any) -> Result:
        given = dict(arguments)
        place = place_of(op, given.get("name"))
        features = given.get("features")
        if not isinstance(features, Mapping) or not all(
            isinstance(name, str) and isinstance(f, tfrecord.Feature)
            for name, f in features.items()
        ):
            place.refuse("features expects a dict of names and of features of stoker.tfrecord")
        if "feature_names" in given:
            place.refuse("feature_names follows from features, and is not to be given")
        outputs = {name: f._outputs(name) for name, f in features.items()}
        given["features"] = [f._text(name) for name, f in features.items()]
        given["feature_names"] = [name for names in outputs.values() for name in names]
        result = call(op, inputs, given)
        nodes = iter(result if isinstance(result, (tuple, list)) else (result,))
        return {name: _one_or_more([next(nodes) for _ in names]) for name, names in outputs.items()}

    document(function, op)
    return function


def _one_or_more(nodes: list[Any]) -> Any:
    return nodes[0] if len(nodes) == 1 else tuple(nodes)
