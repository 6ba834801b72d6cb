# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""AutoAugment: each image gets one of the lists of augmentations that a search found.

The policies are those of Cubuk et al., "AutoAugment: Learning Augmentation Policies from Data",
2019 (https://arxiv.org/abs/1805.09501).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stoker import fn
from stoker._conditionals.branches import choose
from stoker._graph.calls import constant
from stoker._graph.node import DataNode
from stoker._graph.outside import anywhere
from stoker._messages import shown
from stoker.auto_aug import augmentations as a
from stoker.auto_aug.core import Augmentation, Policy, select, signed_bin
from stoker.auto_aug.core.arguments import (
    drawn_seed,
    expect_images,
    refuse_unknown,
    taken,
)
from stoker.errors import GraphError

_BINS = 11


@anywhere
def auto_augment(
    data: DataNode,
    policy_name: str = "image_net",
    shape: Any = None,
    fill_value: Any = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
) -> DataNode:
    """The images after a policy: ``"image_net"``, ``"reduced_image_net"``,
    ``"reduced_cifar10"`` or ``"svhn"``.

    With ``shape``, the extents (H, W) of the images, translations are relative to it: at most
    ``max_translate_rel``, by default 1. Without it they are at most ``max_translate_abs`` pixels,
    by default 250. ``fill_value`` fills what is moved into the image, None repeats its border.
    Raises ``GraphError`` for another name, and at the build for images of another layout.
    """
    expect_images("auto_augment", data)
    if policy_name not in list(_POLICIES):
        names = ", ".join(_POLICIES)
        raise GraphError(f"policy_name expects one of {names}, got {policy_name!r}")
    if policy_name == "reduced_image_net":  # which translates nothing
        shape = None
        if max_translate_abs is not None or max_translate_rel is not None:
            raise GraphError("reduced_image_net translates nothing: leave max_translate_* out")
        policy = get_reduced_image_net_policy()
    else:
        policy = _POLICIES[policy_name](shape is not None, max_translate_abs, max_translate_rel)
    arguments = taken(list(policy.augmentations.values()), fill_value, shape, interp_type)
    return apply_auto_augment(policy, data, seed, **arguments)


def auto_augment_image_net(
    data: DataNode,
    shape: Any = None,
    fill_value: Any = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
) -> DataNode:
    """``auto_augment`` with the policy ``"image_net"``."""
    return auto_augment(
        data,
        "image_net",
        shape,
        fill_value,
        interp_type,
        max_translate_abs,
        max_translate_rel,
        seed,
    )


@anywhere
def apply_auto_augment(
    policy: Policy, data: DataNode, seed: int | None = None, **arguments: Any
) -> DataNode:
    """The images after a policy. The augmentations get those arguments that they take.

    Raises ``GraphError`` for what is no policy, and for an argument that no augmentation takes.
    """
    if not isinstance(policy, Policy):
        raise GraphError(f"policy expects a Policy, got {shown(policy)}")
    if not policy.sub_policies:
        raise GraphError(f"apply_auto_augment expects a policy with sub-policies, got {policy!r}")
    refuse_unknown(list(policy.augmentations.values()), arguments, "apply_auto_augment")
    lists = policy.sub_policies
    drawn = fn.random.uniform(values=list(range(len(lists))), seed=seed, dtype="int32")
    for stage in range(max(map(len, lists))):
        steps = [one[stage] if stage < len(one) else (a.identity, 0.0, None) for one in lists]
        data = _staged(policy, steps, drawn, data, drawn_seed(seed, stage + 1), arguments)
    return data


def _staged(
    policy: Policy,
    steps: list[tuple[Augmentation, float, int | None]],
    drawn: DataNode,
    data: DataNode,
    seed: int | None,
    arguments: dict[str, Any],
) -> DataNode:
    """The images after the augmentations that stand at one place of the lists."""
    ops: list[Augmentation] = []
    for op, _, _ in steps:
        if op not in ops:
            ops.append(op)
    op_of = constant([ops.index(op) for op, _, _ in steps])[drawn]
    bin_of = constant([number or 0 for _, _, number in steps])[drawn]
    probability = constant([float(p) for _, p, _ in steps])[drawn]
    sign = fn.random.coin_flip(seed=seed, dtype="int32")
    made: DataNode = choose(
        fn.random.uniform(range=[0.0, 1.0], seed=seed) < probability,
        lambda: select(
            ops,
            op_of,
            data,
            magnitude_bin=signed_bin(bin_of, sign),
            num_magnitude_bins=policy.num_magnitude_bins,
            **arguments,
        ),
        lambda: data,
    )
    return made


def get_image_net_policy(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> Policy:
    """The policy that was found on ImageNet."""
    return _policy("ImageNetPolicy", _IMAGE_NET, use_shape, max_translate_abs, max_translate_rel)


def get_reduced_image_net_policy() -> Policy:
    """The policy that was found on a part of ImageNet."""
    return _policy("ReducedImageNetPolicy", _REDUCED_IMAGE_NET)


def get_reduced_cifar10_policy(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> Policy:
    """The policy that was found on a part of CIFAR-10."""
    most = (max_translate_abs, max_translate_rel)
    return _policy("ReducedCifar10Policy", _REDUCED_CIFAR10, use_shape, *most)


def get_svhn_policy(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> Policy:
    """The policy that was found on SVHN."""
    return _policy("SvhnPolicy", _SVHN, use_shape, max_translate_abs, max_translate_rel)


_POLICIES: dict[str, Callable[..., Policy]] = {
    "image_net": get_image_net_policy,
    "reduced_image_net": get_reduced_image_net_policy,
    "reduced_cifar10": get_reduced_cifar10_policy,
    "svhn": get_svhn_policy,
}


def _policy(
    name: str, text: str, use_shape: bool = False, max_abs: Any = None, max_rel: Any = None
) -> Policy:
    """A policy from its text: a line for a list, with name, probability and magnitude's number."""
    translate = a.translations(use_shape, 250, 1.0, max_abs, max_rel)
    known = {op.name: op for op in [*a.non_monotonic(), *translate]}
    lists = []
    for line in text.split("\n"):
        words = line.replace(";", " ; ").split()
        steps = []
        for step in " ".join(words).split(" ; ") if words else []:
            op, probability, number = step.split()
            steps.append((known[op], float(probability), None if number == "-" else int(number)))
        if steps:
            lists.append(steps)
    return Policy(name, _BINS, lists)


_IMAGE_NET = """
equalize 0.8 -; shear_y 0.8 4
color 0.4 9; equalize 0.6 -
color 0.4 1; rotate 0.6 8
solarize 0.8 3; equalize 0.4 -
solarize 0.4 2; solarize 0.6 2
color 0.2 0; equalize 0.8 -
equalize 0.4 -; solarize_add 0.8 3
shear_x 0.2 9; rotate 0.6 8
color 0.6 1; equalize 1.0 -
invert 0.4 -; rotate 0.6 0
equalize 1.0 -; shear_y 0.6 3
color 0.4 7; equalize 0.6 -
posterize 0.4 6; auto_contrast 0.4 -
solarize 0.6 8; color 0.6 9
solarize 0.2 4; rotate 0.8 9
rotate 1.0 7; translate_y 0.8 9
solarize 0.8 4
shear_y 0.8 0; color 0.6 4
color 1.0 0; rotate 0.6 2
equalize 0.8 -
equalize 1.0 -; auto_contrast 0.6 -
shear_y 0.4 7; solarize_add 0.6 7
posterize 0.8 2; solarize 0.6 10
solarize 0.6 8; equalize 0.6 -
color 0.8 6; rotate 0.4 5
"""

_REDUCED_IMAGE_NET = """
posterize 0.4 8; rotate 0.6 9
solarize 0.6 5; auto_contrast 0.6 -
equalize 0.8 -; equalize 0.6 -
posterize 0.6 7; posterize 0.6 6
equalize 0.4 -; solarize 0.2 4
equalize 0.4 -; rotate 0.8 8
solarize 0.6 3; equalize 0.6 -
posterize 0.8 5; equalize 1.0 -
rotate 0.2 3; solarize 0.6 8
equalize 0.6 -; posterize 0.4 6
rotate 0.8 8; color 0.4 0
rotate 0.4 9; equalize 0.6 -
equalize 0.8 -
invert 0.6 -; equalize 1.0 -
color 0.6 4; contrast 1.0 8
rotate 0.8 8; color 1.0 2
color 0.8 8; solarize 0.8 7
sharpness 0.4 7; invert 0.6 -
shear_x 0.6 5; equalize 1.0 -
color 0.4 0; equalize 0.6 -
equalize 0.4 -; solarize 0.2 4
solarize 0.6 5; auto_contrast 0.6 -
invert 0.6 -; equalize 1.0 -
color 0.6 4; contrast 1.0 8
equalize 0.8 -; equalize 0.6 -
"""

_REDUCED_CIFAR10 = """
invert 0.1 -; contrast 0.2 6
rotate 0.7 2; translate_x 0.3 9
sharpness 0.8 1; sharpness 0.9 3
shear_y 0.5 8; translate_y 0.7 9
auto_contrast 0.5 -; equalize 0.9 -
shear_y 0.2 7; posterize 0.3 7
color 0.4 3; brightness 0.6 7
sharpness 0.3 9; brightness 0.7 9
equalize 0.6 -; equalize 0.5 -
contrast 0.6 7; sharpness 0.6 5
color 0.7 7; translate_x 0.5 8
equalize 0.3 -; auto_contrast 0.4 -
translate_y 0.4 3; sharpness 0.2 6
brightness 0.9 6; color 0.2 8
solarize 0.5 2
equalize 0.2 -; auto_contrast 0.6 -
equalize 0.2 -; equalize 0.6 -
color 0.9 9; equalize 0.6 -
auto_contrast 0.8 -; solarize 0.2 8
brightness 0.1 3; color 0.7 0
solarize 0.4 5; auto_contrast 0.9 -
translate_y 0.9 9; translate_y 0.7 9
auto_contrast 0.9 -; solarize 0.8 3
equalize 0.8 -; invert 0.1 -
translate_y 0.7 9; auto_contrast 0.9 -
"""

_SVHN = """
shear_x 0.9 4; invert 0.2 -
shear_y 0.9 8; invert 0.7 -
equalize 0.6 -; solarize 0.6 6
invert 0.9 -; equalize 0.6 -
equalize 0.6 -; rotate 0.9 3
shear_x 0.9 4; auto_contrast 0.8 -
shear_y 0.9 8; invert 0.4 -
shear_y 0.9 5; solarize 0.2 6
invert 0.9 -; auto_contrast 0.8 -
equalize 0.6 -; rotate 0.9 3
shear_x 0.9 4; solarize 0.3 3
shear_y 0.8 8; invert 0.7 -
equalize 0.9 -; translate_y 0.6 6
invert 0.9 -; equalize 0.6 -
contrast 0.3 3; rotate 0.8 4
invert 0.8 -
shear_y 0.7 6; solarize 0.4 8
invert 0.6 -; rotate 0.8 4
shear_y 0.3 7; translate_x 0.9 3
shear_x 0.1 6; invert 0.6 -
solarize 0.7 2; translate_y 0.6 7
shear_y 0.8 4; invert 0.8 -
shear_x 0.7 9; translate_y 0.8 3
shear_y 0.8 5; auto_contrast 0.7 -
shear_x 0.7 2; invert 0.1 -
"""
