# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A function of an image and a parameter, with the range of magnitudes behind the parameter."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy

from stoker import fn
from stoker._graph.calls import constant
from stoker._graph.node import DataNode
from stoker._graph.outside import anywhere
from stoker._messages import shown, user_level
from stoker.errors import GraphError, GraphTypeError

Op = Callable[..., DataNode]
MagToParam = Callable[[float], Any]
_UNSET: Any = object()
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class SignedBin(NamedTuple):
    """The number of a magnitude, and for each sample whether it is negated."""

    bin: int | DataNode
    random_sign: DataNode
    signed_magnitude_idx: DataNode  # twice the number, and one more where it is negated

    def at(self, index: int) -> SignedBin:
        """One of several, where the numbers or signs of a sample are a list."""
        number = self.bin[index] if isinstance(self.bin, DataNode) else self.bin
        return SignedBin(number, self.random_sign[index], self.signed_magnitude_idx[index])


def signed_bin(
    magnitude_bin: int | DataNode,
    random_sign: DataNode | None = None,
    seed: int | None = None,
    shape: Any = None,
) -> SignedBin:
    """The number of a magnitude with a sign for each sample, which is drawn unless it is given.

    ``random_sign`` is 0 or 1 for each sample; 1 negates. ``shape`` is that of the signs to draw for
    a sample. Raises ``GraphError`` for what is no whole number and no node, and for a ``seed`` or a
    ``shape`` beside given signs.
    """
    if not _is_number(magnitude_bin):
        raise GraphTypeError(
            f"signed_bin: magnitude_bin expects a whole number or a node, got "
            f"{shown(magnitude_bin)}"
        )
    if random_sign is None:
        random_sign = fn.random.coin_flip(seed=seed, shape=shape, dtype="int32")
    elif seed is not None or shape is not None:
        raise GraphError("signed_bin: seed and shape are for signs to draw; random_sign gives them")
    return SignedBin(magnitude_bin, random_sign, magnitude_bin * 2 + random_sign)


class Augmentation:
    """A function of an image and a parameter, with the range of the magnitudes behind that.

    The function gets the image, the parameter and those named arguments that it takes. Magnitude
    number k of n lies at k of n evenly spaced places from the first end of ``mag_range`` to the
    second. ``randomly_negate`` negates it for half of the samples, and ``mag_to_param`` makes the
    parameter of it. ``param_device="auto"`` puts the parameter where the image is. Without
    ``mag_range``, the parameter is None. An array as ``mag_range`` lists all magnitudes.

    Raises ``GraphError`` for a function that does not take an image and a parameter by position.
    """

    def __init__(
        self,
        op: Op,
        mag_range: tuple[float, float] | numpy.ndarray[Any, Any] | None = None,
        randomly_negate: bool | None = None,
        mag_to_param: MagToParam | None = None,
        param_device: str | None = None,
        name: str | None = None,
    ) -> None:
        self.op = op
        self.mag_range = mag_range
        self.randomly_negate = bool(randomly_negate)
        self.mag_to_param: MagToParam = mag_to_param or _unchanged
        self.param_device = param_device or "cpu"
        self.name = name or op.__name__
        takes = list(inspect.signature(op).parameters.values())
        by_position = sum(p.kind in _BY_POSITION for p in takes)
        if by_position < 2:
            raise GraphError(
                f"augmentation: the function {shown(op)} accepts {by_position} positional "
                "argument(s), expected at least two: the image and the parameter"
            )
        named = [p for p in takes[2:] if p.kind in (*_BY_POSITION, p.KEYWORD_ONLY)]
        self._names = {p.name for p in named}
        self._required = [p.name for p in named if p.default is p.empty]
        self._given = {
            "mag_range": mag_range,
            "mag_to_param": mag_to_param,
            "randomly_negate": randomly_negate,
            "param_device": param_device,
            "name": name,
        }

    def augmentation(
        self,
        mag_range: Any = _UNSET,
        randomly_negate: Any = _UNSET,
        mag_to_param: Any = _UNSET,
        param_device: Any = _UNSET,
        name: Any = _UNSET,
    ) -> Augmentation:
        """The same function with other settings, as far as they are given; None is the default."""
        changed = {
            "mag_range": mag_range,
            "randomly_negate": randomly_negate,
            "mag_to_param": mag_to_param,
            "param_device": param_device,
            "name": name,
        }
        new = {key: value for key, value in changed.items() if value is not _UNSET}
        return type(self)(self.op, **{**self._given, **new})

    @anywhere
    def __call__(
        self,
        data: DataNode,
        *,
        magnitude_bin: int | DataNode | SignedBin | None = None,
        num_magnitude_bins: int | None = None,
        **arguments: Any,
    ) -> DataNode:
        """The image after the augmentation. Raises ``GraphError`` where an argument is missing."""
        missing = [name for name in self._required if name not in arguments]
        if missing:
            raise GraphError(
                f"the augmentation {self.name} needs arguments that were not provided to the call: "
                f"{', '.join(missing)}"
            )
        known = {k: v for k, v in arguments.items() if k in self._names}
        return self.op(data, self._param(data, magnitude_bin, num_magnitude_bins), **known)

    def takes(self, name: str) -> bool:
        """Whether its function takes an argument of this name."""
        return name in self._names

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in self._given.items() if value is not None]
        return f"Augmentation({', '.join([self.name, *given])})"

    def _param(
        self, data: DataNode, wanted: int | DataNode | SignedBin | None, count: int | None
    ) -> DataNode | None:
        magnitudes = self._get_magnitudes(count)
        if magnitudes is None:
            return None
        if wanted is None:
            self._refuse("magnitude_bin is missing")
        if self.randomly_negate and not isinstance(wanted, SignedBin):
            warnings.warn(
                f"the augmentation {self.name} negates magnitudes at random, but unsigned "
                "`magnitude_bin` was passed to the augmentation call; signs are drawn for this "
                "call alone. Give magnitude_bin=signed_bin(...) to share them",
                stacklevel=user_level(),
            )
            wanted = signed_bin(wanted)
        index = wanted.bin if isinstance(wanted, SignedBin) else wanted
        if not _is_number(index):
            self._refuse(f"magnitude_bin expects a whole number or a node, got {shown(index)}")
        if not isinstance(index, DataNode) and not 0 <= index < len(magnitudes):
            self._refuse(
                f"magnitude_bin expects a number from 0 to {len(magnitudes) - 1}, got {index}"
            )
        on_gpu = self.param_device == "gpu" or (
            self.param_device == "auto" and data.device == "gpu"
        )
        param = self._chosen(magnitudes, index, wanted)
        return param.gpu() if on_gpu else param

    def _chosen(self, magnitudes: Sequence[float], index: Any, wanted: Any) -> DataNode:
        """The parameter of the magnitude with this number, negated where that is wanted."""
        if self.randomly_negate:
            signed = [m for one in magnitudes for m in (one, -one)]
            return constant(self._map_mags_to_params(signed))[wanted.signed_magnitude_idx]
        if isinstance(index, DataNode):
            return constant(self._map_mags_to_params(magnitudes))[index]
        return constant(self._map_mag_to_param(magnitudes[index]))

    def _get_magnitudes(self, count: int | None) -> Any:
        """The magnitudes by their numbers; None if it has none."""
        if self.mag_range is None:
            return None
        if isinstance(self.mag_range, numpy.ndarray):
            if count is not None and len(self.mag_range) != count:
                self._refuse(f"mag_range expects {count} magnitudes, got {len(self.mag_range)}")
            return self.mag_range
        if count is None:
            self._refuse("num_magnitude_bins is missing")
        if not hasattr(self.mag_range, "__len__") or len(self.mag_range) != 2:
            self._refuse(
                f"mag_range expects (low, high) or an array of all magnitudes, got "
                f"{shown(self.mag_range)}"
            )
        low, high = self.mag_range
        return numpy.linspace(low, high, count, dtype=numpy.float32)

    def _map_mag_to_param(self, magnitude: float) -> numpy.ndarray[Any, Any]:
        """The parameter of a magnitude."""
        param = self.mag_to_param(magnitude)
        if _holds_nodes(param):
            self._refuse(
                "the mag_to_param callback must return parameter that is `np.ndarray` or "
                "convertible to one, got the output of an operator: parameters are made once, "
                "before the pipeline runs. Move the operator into the augmentation's function"
            )
        return numpy.array(param)

    def _map_mags_to_params(self, magnitudes: Sequence[float]) -> numpy.ndarray[Any, Any]:
        """The parameters of magnitudes, which must be of one shape and dtype."""
        params = [self._map_mag_to_param(magnitude) for magnitude in magnitudes]
        for param, magnitude in zip(params, magnitudes, strict=True):
            if (param.shape, param.dtype) != (params[0].shape, params[0].dtype):
                self._refuse(
                    "mag_to_param expects to give arrays of the same type and shape for all "
                    f"magnitudes: for {magnitudes[0]} it has shape {params[0].shape} and type "
                    f"{params[0].dtype}, for {magnitude} it has shape {param.shape} and type "
                    f"{param.dtype}."
                )
        return numpy.array(params)

    def _refuse(self, problem: str) -> NoReturn:
        raise GraphError(f"the augmentation {self.name}: {problem}")


def _unchanged(magnitude: float) -> Any:
    return numpy.array(magnitude)


def _is_number(value: Any) -> bool:
    """Whether it is a whole number or a node."""
    return isinstance(value, (int, numpy.integer, DataNode)) and not isinstance(value, bool)


def _holds_nodes(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_holds_nodes, value))
    return isinstance(value, DataNode)
