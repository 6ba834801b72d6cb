# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A decorator that makes an operator of a function on JAX arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from stoker import fn


def jax_function(
    function: Callable[..., Any] | None = None,
    num_outputs: int = 1,
    output_layouts: str | Sequence[str] | None = None,
    sharding: Any = None,
    device: str | None = None,
    preserve: bool = True,
    **more: Any,
) -> Callable[..., Any]:
    """Makes an operator of a function that takes and returns whole batches as JAX arrays.

    ``more`` are further arguments of ``fn.jax_function``, such as ``dtype`` and ``ndim``.
    ``preserve`` has no effect. With arguments only, the result is a decorator:

        @jax_function
        @jax.jit
        def flipped(images):
            return images[:, :, ::-1]

        @pipeline_def(batch_size=32)
        def training(root):
            ...
            return flipped(images)
    """
    given = {
        "num_outputs": num_outputs,
        "output_layouts": output_layouts,
        "sharding": sharding,
        "device": device,
        **more,
    }
    if function is None:
        return functools.partial(_operator, given=given)
    return _operator(function, given)


def _operator(function: Callable[..., Any], given: dict[str, Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def add(*inputs: Any) -> Any:
        return fn.jax_function(*inputs, function=function, **given)

    return add
