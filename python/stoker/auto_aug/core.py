# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What automatic augmentation is made of: augmentations, policies and the choice between them."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, overload

import numpy

from stoker import fn
from stoker._conditionals.branches import choose
from stoker._graph.calls import constant
from stoker._graph.edge import edge
from stoker._graph.node import DataNode
from stoker._graph.outside import anywhere
from stoker._messages import Place, shown, user_line
from stoker.errors import GraphError

Op = Callable[..., DataNode]
MagToParam = Callable[[float], Any]
_UNSET: Any = object()


class SignedBin(NamedTuple):
    """The number of a magnitude, and for each sample whether it is negated."""

    bin: int | DataNode
    random_sign: DataNode


def signed_bin(
    magnitude_bin: int | DataNode, random_sign: DataNode | None = None, seed: int | None = None
) -> SignedBin:
    """The number of a magnitude with a sign for each sample, which is drawn unless it is given.

    ``random_sign`` is 0 or 1 for each sample; 1 negates.
    """
    if random_sign is None:
        random_sign = fn.random.coin_flip(seed=seed, dtype="int32")
    return SignedBin(magnitude_bin, random_sign)


class Augmentation:
    """A function of an image and a parameter, with the range of the magnitudes behind that.

    The function gets the image, the parameter and those named arguments that it takes. Magnitude
    number k of n lies at k of n evenly spaced places from the first end of ``mag_range`` to the
    second. ``randomly_negate`` negates it for half of the samples, and ``mag_to_param`` makes the
    parameter of it. ``param_device="auto"`` puts the parameter where the image is. Without
    ``mag_range``, the parameter is None. An array as ``mag_range`` lists all magnitudes.
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
        self.mag_to_param: MagToParam = mag_to_param or (lambda magnitude: magnitude)
        self.param_device = param_device or "cpu"
        self.name = name or op.__name__
        takes = list(inspect.signature(op).parameters.values())
        self._names = {p.name for p in takes[2:]}
        self._required = {p.name for p in takes[2:] if p.default is p.empty}

    def augmentation(
        self,
        mag_range: Any = _UNSET,
        randomly_negate: Any = _UNSET,
        mag_to_param: Any = _UNSET,
        param_device: Any = _UNSET,
        name: Any = _UNSET,
    ) -> Augmentation:
        """The same function with other settings, as far as they are given."""
        changed = {
            "mag_range": mag_range,
            "randomly_negate": randomly_negate,
            "mag_to_param": mag_to_param,
            "param_device": param_device,
            "name": name,
        }
        own = {key: getattr(self, key) for key in changed}
        return Augmentation(
            self.op, **{**own, **{k: v for k, v in changed.items() if v is not _UNSET}}
        )

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
        missing = self._required - arguments.keys()
        if missing:
            raise GraphError(f"the augmentation {self.name} needs {', '.join(sorted(missing))}")
        known = {k: v for k, v in arguments.items() if k in self._names}
        return self.op(data, self._param(data, magnitude_bin, num_magnitude_bins), **known)

    def takes(self, name: str) -> bool:
        """Whether its function takes an argument of this name."""
        return name in self._names

    def __repr__(self) -> str:
        return f"Augmentation({self.name}, mag_range={self.mag_range!r})"

    def _param(
        self, data: DataNode, wanted: int | DataNode | SignedBin | None, count: int | None
    ) -> DataNode | None:
        if self.mag_range is None:
            return None
        if wanted is None:
            raise GraphError(f"the augmentation {self.name} needs magnitude_bin")
        if self.randomly_negate and not isinstance(wanted, SignedBin):
            wanted = signed_bin(wanted)
        magnitudes = self._magnitudes(count)
        index = wanted.bin if isinstance(wanted, SignedBin) else wanted
        if self.randomly_negate and isinstance(wanted, SignedBin):
            magnitudes = [m for one in magnitudes for m in (one, -one)]
            index = index * 2 + wanted.random_sign
        params = numpy.stack([numpy.asarray(self.mag_to_param(m)) for m in magnitudes])
        if isinstance(index, DataNode):
            param = constant(params.astype(_narrow(params.dtype)))[index]
        else:
            param = constant(params[index].astype(_narrow(params.dtype)))
        on_gpu = self.param_device == "gpu" or (
            self.param_device == "auto" and data.device == "gpu"
        )
        return param.gpu() if on_gpu else param

    def _magnitudes(self, count: int | None) -> list[float]:
        if isinstance(self.mag_range, numpy.ndarray):
            if count is not None and len(self.mag_range) != count:
                raise GraphError(
                    f"mag_range of the augmentation {self.name} expects {count} magnitudes, "
                    f"got {len(self.mag_range)}"
                )
            return list(self.mag_range)
        assert self.mag_range is not None
        if count is None:
            raise GraphError(f"the augmentation {self.name} needs num_magnitude_bins")
        low, high = self.mag_range
        return [float(m) for m in numpy.linspace(low, high, count)]


@overload
def augmentation(function: Op, /) -> Augmentation: ...


@overload
def augmentation(
    function: None = None,
    /,
    *,
    mag_range: Any = None,
    randomly_negate: bool | None = None,
    mag_to_param: MagToParam | None = None,
    param_device: str | None = None,
    name: str | None = None,
) -> Callable[[Op], Augmentation]: ...


def augmentation(
    function: Op | None = None,
    /,
    *,
    mag_range: Any = None,
    randomly_negate: bool | None = None,
    mag_to_param: MagToParam | None = None,
    param_device: str | None = None,
    name: str | None = None,
) -> Augmentation | Callable[[Op], Augmentation]:
    """Turns a function of an image and a parameter into an ``Augmentation``; a decorator."""

    def made(op: Op) -> Augmentation:
        return Augmentation(op, mag_range, randomly_negate, mag_to_param, param_device, name)

    return made if function is None else made(function)


class Policy:
    """Lists of augmentations, one of which is drawn for each image.

    A list has ``(augmentation, probability, magnitude's number or None)`` in order.
    """

    def __init__(
        self,
        name: str,
        num_magnitude_bins: int,
        sub_policies: Sequence[Sequence[tuple[Augmentation, float, int | None]]],
    ) -> None:
        if not sub_policies:
            raise GraphError(f"the policy {name} has no sub-policies")
        self.name = name
        self.num_magnitude_bins = whole_number("num_magnitude_bins", num_magnitude_bins, 1)
        self.sub_policies = tuple(
            tuple(self._checked(step) for step in one) for one in sub_policies
        )

    def _checked(self, step: Any) -> tuple[Augmentation, float, int | None]:
        if not isinstance(step, (tuple, list)) or len(step) != 3:
            raise GraphError(
                f"the policy {self.name} expects (augmentation, probability, number or None), "
                f"got {shown(step)}"
            )
        op, probability, number = step
        if not isinstance(op, Augmentation):
            raise GraphError(f"the policy {self.name} expects an augmentation, got {shown(op)}")
        if not isinstance(probability, Real) or not 0 <= float(probability) <= 1:
            raise GraphError(
                f"the policy {self.name}: the probability of {op.name} is {shown(probability)}, "
                "expected 0 to 1"
            )
        if number is not None:
            what = f"the policy {self.name}: the magnitude's number of {op.name}"
            number = whole_number(what, number, 0, self.num_magnitude_bins - 1)
        return op, float(probability), number

    @property
    def augmentations(self) -> dict[str, Augmentation]:
        """All augmentations by name. Several of one name get ``__0``, ``__1`` and so on behind."""
        found = list(dict.fromkeys(op for one in self.sub_policies for op, _, _ in one))
        named: dict[str, list[Augmentation]] = {}
        for op in found:
            named.setdefault(op.name, []).append(op)
        return {
            name if len(ops) == 1 else f"{name}__{k}": op
            for name, ops in named.items()
            for k, op in enumerate(ops)
        }

    def __repr__(self) -> str:
        return f"Policy({self.name!r}, {self.num_magnitude_bins}, {self.sub_policies!r})"


@anywhere
def select(
    ops: Sequence[Callable[..., DataNode]],
    selected_op_idx: DataNode,
    *arguments: Any,
    **named: Any,
) -> DataNode:
    """For each sample what one of the functions makes of the arguments: that with its number.

    Raises ``GraphError`` without a function.
    """
    if not ops:
        raise GraphError("select expects at least one function")

    def among(low: int, high: int) -> DataNode:
        if high - low == 1:
            return ops[low](*arguments, **named)
        middle = (low + high) // 2
        made: DataNode = choose(
            selected_op_idx < middle, lambda: among(low, middle), lambda: among(middle, high)
        )
        return made

    return among(0, len(ops))


def forbid_unused_arguments(
    augmentations: Sequence[Augmentation], named: Mapping[str, Any], call: str
) -> None:
    """Raises ``GraphError`` if there is a named argument that no augmentation takes."""
    unused = sorted(set(named).difference(*[aug._names for aug in augmentations]))
    if unused:
        raise GraphError(f"{call}: no augmentation takes {', '.join(unused)}")


def drawn_seed(seed: int | None, number: int) -> int | None:
    """The seed of one of several draws."""
    return None if seed is None else seed + number


def whole_number(what: str, value: Any, low: int, high: int | None = None) -> int:
    """The value as an int. Raises ``GraphError`` if it is no whole number or out of range."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if number < low or (high is not None and number > high):
        places = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise GraphError(f"{what} expects a whole number {places}, got {shown(value)}")
    return number


def expect_images(who: str, data: Any) -> None:
    """Has the graph refused at the build unless the data are of layout HWC, or three bare axes."""
    place = Place(who, None, user_line())
    if not isinstance(data, DataNode):
        place.refuse(f"data expects a node, got {shown(data)}")
    edge(data).definition.layouts.append((place, edge(data).node, edge(data).output, "HWC"))


def refuse_unknown(augmentations: Sequence[Augmentation], given: Mapping[str, Any]) -> None:
    """Raises ``GraphError`` without augmentations, and for an argument that none of them takes."""
    if not augmentations:
        raise GraphError("expected at least one augmentation")
    for wrong in (a for a in augmentations if not isinstance(a, Augmentation)):
        raise GraphError(f"expected augmentations, got {shown(wrong)}")
    for name in given:
        if not any(a.takes(name) for a in augmentations):
            raise GraphError(f"no augmentation takes the argument '{name}'")


def taken(
    augmentations: Sequence[Augmentation], fill_value: Any, shape: Any, interp_type: Any
) -> dict[str, Any]:
    """Those of the arguments that are given and some augmentation takes."""
    given = {"fill_value": fill_value}
    if shape is not None:
        given["shape"] = shape
    if interp_type is not None:
        given["interp_type"] = interp_type
    return {k: v for k, v in given.items() if any(a.takes(k) for a in augmentations)}


def without(
    augmentations: Sequence[Augmentation], excluded: Sequence[str] | None
) -> list[Augmentation]:
    """The augmentations but for those that are excluded by name. Unknown names are refused."""
    if isinstance(excluded, str):
        raise GraphError(f"excluded expects a list of names, got {excluded!r}")
    names = [a.name for a in augmentations]
    for name in excluded or ():
        if name not in names:
            raise GraphError(f"excluded has '{name}', expected some of {', '.join(names)}")
    left = [a for a in augmentations if a.name not in (excluded or ())]
    if not left:
        raise GraphError("excluded leaves no augmentation")
    return left


def _narrow(dtype: Any) -> str:
    return {"f": "float32", "i": "int32", "u": str(dtype), "b": "bool"}[dtype.kind]
