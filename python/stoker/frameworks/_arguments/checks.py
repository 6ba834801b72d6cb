# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Checks arguments that the iterators of all frameworks have."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from stoker import Pipeline
from stoker._messages import user_level
from stoker.errors import GraphError
from stoker.frameworks._epochs import LastBatchPolicy

_POLICIES = ", ".join(f"LastBatchPolicy.{policy.name}" for policy in LastBatchPolicy)
_NO, _YES = (False, None, "no"), (True, "yes", "True")


def lead_reader(pipelines: Pipeline | Sequence[Pipeline]) -> str | None:
    """The name of the first pipeline's lead reader; None if there is no reader."""
    pipe = pipelines if isinstance(pipelines, Pipeline) else next(iter(pipelines), None)
    return None if pipe is None else pipe.lead_reader


def checked_names(output_map: Sequence[str]) -> list[str]:
    """The names of the outputs. Raises ``GraphError`` if two are equal."""
    names = [output_map] if isinstance(output_map, str) else list(output_map)
    if len(set(names)) != len(names):
        raise GraphError(f"output_map expects distinct names, got {names}")
    return names


def is_yes(auto_reset: str | bool | None) -> bool:
    """Whether ``auto_reset`` says so."""
    if auto_reset not in (*_NO, *_YES):
        raise GraphError(f"auto_reset expects True, 'yes', False or 'no', got {auto_reset!r}")
    return auto_reset in _YES


def checked_policy(policy: LastBatchPolicy, fill_last_batch: bool | None) -> LastBatchPolicy:
    """The policy, also by the older argument. Raises ``GraphError`` for what is none."""
    if fill_last_batch is not None:
        policy = LastBatchPolicy.FILL if fill_last_batch else LastBatchPolicy.PARTIAL
        warnings.warn(
            f"fill_last_batch is deprecated: say last_batch_policy=LastBatchPolicy.{policy.name}",
            DeprecationWarning,
            stacklevel=user_level(),
        )
    if not isinstance(policy, LastBatchPolicy):
        raise GraphError(f"last_batch_policy expects one of {_POLICIES}, got {policy!r}")
    return policy
