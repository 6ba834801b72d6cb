# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A function of the user's in a graph, as the engine calls it: once for a batch."""

from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from stoker import _core
from stoker._messages import Place, is_ours, raised
from stoker.errors import StateError

Columns = tuple[list[Any], ...]  # a list of samples for each output
Run = Callable[..., Columns]
Hooks = tuple[Callable[[], Any], Callable[[Any], Any]]  # that give a state, and take one


class CallError(Exception):
    """The function raised ``__cause__``, or it returned something wrong.

    The text says in which call, e.g. "sample 3: ".
    """


class Form(NamedTuple):
    """How to call a function.

    ``run`` takes a list of samples for each input. These are tensors in memory of their own with
    ``takes_tensors``, else arrays of NumPy that cannot be written into.
    """

    run: Run
    takes_tensors: bool
    array: Callable[[Any], Any]  # makes an array of what was returned and is none


class UserFunction:
    """A function in one node. ``hooks`` are those of a stateful function.

    The engine calls it on the thread for user code, the methods below are for the thread that runs
    the pipeline.
    """

    def __init__(self, form: Form, place: Place, is_stateful: bool, hooks: Hooks | None) -> None:
        self.form = form
        self.place = place
        self.is_stateful = is_stateful
        self.node = -1  # once it is in the graph
        self.core = _core.UserFunction(self, is_stateful, form.takes_tensors)
        self._hooks = hooks
        self._caller: _core.OneCaller | None = None
        self._received: Callable[[], int] = lambda: 0
        self._keeps_calls = False
        # Guards the states: what they were before the calls for steps, counted as received ones.
        self._mutex = threading.Lock()
        self._before: dict[int, str] = {}

    def array(self, value: Any) -> Any:
        return self.form.array(value)

    def __call__(self, step: int, *inputs: list[Any]) -> Columns | str:
        """What the function makes of a batch, or why it failed.

        ``step`` counts the steps that were received before this one.
        """
        caller = self._caller
        if caller is not None:
            caller.function_thread = threading.get_ident()
        try:
            if self._hooks is not None:
                self._begin(step, self._hooks)
            return self.form.run(*inputs)
        except Exception as e:
            return _failure(e)
        finally:
            if caller is not None:
                caller.function_thread = None

    def _begin(self, step: int, hooks: Hooks) -> None:
        """Notes the state before a step. A step that is made again begins with the same."""
        with self._mutex:
            if step in self._before:
                hooks[1](json.loads(self._before[step]))
            known = {k: v for k, v in self._before.items() if self._keeps_calls and k < step}
            known[step] = self._before.get(step) or json.dumps(hooks[0]())
            self._before = known

    # The pipeline's side.

    def prepare(self, caller: _core.OneCaller) -> None:
        """``caller`` is told which thread calls the function."""
        self._caller = caller

    def keep_calls(self, keeps: bool) -> None:
        """Whether results are kept from now on, for later calls for the same steps.

        Requires: the engine is stopped.
        """
        self._keeps_calls = keeps
        self.core.keep_calls(keeps)

    def forget_calls(self) -> None:
        """Goes back to where it stood before the calls that are kept, and drops these."""
        self.core.forget_calls()
        with self._mutex:
            if self._before and self._hooks is not None:
                self._hooks[1](json.loads(self._before[min(self._before)]))
            self._before = {}

    def attach(self, received: Callable[[], int]) -> None:
        """``received`` tells how many steps were received."""
        self._received = received

    def state(self) -> Any:
        """The state after the steps that were received. Raises ``StateError`` if there is none."""
        self.require_resumable()
        if self._hooks is None:
            return None
        with self._mutex:
            if (before := self._before.get(self._received())) is not None:
                return json.loads(before)
            try:
                return json.loads(json.dumps(self._hooks[0]()))
            except Exception as e:
                raise StateError(f"{self} failed to give its state: {raised(e)}") from e

    def restore(self, state: Any) -> None:
        """Takes a state. Requires: the engine is stopped."""
        self.core.forget_calls()
        if self._hooks is None:
            return
        with self._mutex:
            self._before = {}
            try:
                self._hooks[1](state)
            except Exception as e:
                raise StateError(f"{self} failed to take its state: {raised(e)}") from e

    @property
    def has_state(self) -> bool:
        return self._hooks is not None

    def require_resumable(self) -> None:
        if self.is_stateful and self._hooks is None:
            raise StateError(
                f"{self} is stateful and cannot say where it stands: give the function state() and "
                "restore(), or state_dict() and load_state_dict()"
            )

    def __str__(self) -> str:
        return f"the function of {self.place}"


def hooks_of(function: Any) -> Hooks | None:
    """The methods of an object that give and take its state."""
    for get, put in (("state", "restore"), ("state_dict", "load_state_dict")):
        if callable(getattr(function, get, None)) and callable(getattr(function, put, None)):
            return getattr(function, get), getattr(function, put)
    return None


def _failure(e: Exception) -> str:
    """What an exception says, with the traceback of the user's code."""
    where = ""
    if isinstance(e, CallError) and e.__cause__ is not None:
        where, cause = str(e), e.__cause__
    else:
        cause = e
    begin = cause.__traceback__
    while begin is not None and is_ours(begin.tb_frame):
        begin = begin.tb_next
    text = f"{where}{raised(cause)}"
    if isinstance(cause, ValueError) and "read-only" in text:
        text += "; what a function is given is not its own, so it begins with x = x.copy()"
    if begin is None:
        return text
    try:
        lines = traceback.format_exception(type(cause), cause, begin)
    except Exception:  # an exception whose parts cannot be shown
        lines = ["Traceback (most recent call last):\n", *traceback.format_tb(begin)]
    return text + "\n" + "".join(lines).rstrip("\n")


def columns_of(result: Any, count: int) -> Sequence[Any]:
    """The outputs in what a function returned. Raises TypeError if there are not ``count``."""
    if count == 1:
        return result if type(result) is tuple and len(result) == 1 else (result,)
    if isinstance(result, (tuple, list)) and len(result) == count:
        return result
    came = f"{len(result)}" if isinstance(result, (tuple, list)) else f"a {type(result).__name__}"
    raise TypeError(f"expected a tuple of num_outputs={count} outputs, got {came}")
