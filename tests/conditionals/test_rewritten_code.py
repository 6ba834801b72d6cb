# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Python that `enable_conditionals=True` rewrites means what it meant, with nodes or without."""

from __future__ import annotations

import contextlib
import functools
import linecache
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stoker
from stoker import DataNode, fn, pipeline_def
from stoker.errors import GraphError, SampleError

COUNT = 12


def samples(define: Callable[[DataNode, DataNode], Any]) -> list[tuple[float, bool, bool]]:
    """What `define` makes of two coins, with the coins, by sample."""

    @pipeline_def(batch_size=COUNT, num_threads=1, seed=3, enable_conditionals=True)
    def pipe() -> Any:
        a, b = fn.random.coin_flip(name="a"), fn.random.coin_flip(name="b")
        return define(a, b), a, b

    made = [[np.asarray(x).item() for x in batch] for batch in pipe().run()]
    assert len(set(zip(made[1], made[2], strict=True))) == 4
    return list(zip(*made, strict=True))


def expect(define: Callable[[DataNode, DataNode], Any], want: Callable[[Any, Any], float]) -> None:
    for got, a, b in samples(define):
        assert got == want(a, b), (a, b)


def factorial_like(n: int, a: Any) -> Any:
    if n == 0:
        return 0
    return 1 if a else factorial_like(n - 1, a)


def test_functions_may_call_themselves() -> None:
    expect(lambda a, b: factorial_like(3, a), lambda a, b: 1 if a else 0)

    def inner(n: int, a: Any) -> Any:
        if n > 2:
            return 5
        return n if a else inner(n + 1, a)

    expect(lambda a, b: inner(0, a), lambda a, b: 0 if a else 5)


class Base:
    level = 3

    def chosen(self, a: Any, b: Any) -> Any:
        return self.level if a else 4


class Augment(Base):
    __hidden = 7

    def __init__(self, extra: int = 0) -> None:
        self.extra = extra

    def __call__(self, a: Any, b: Any) -> Any:
        if b:
            return self.__pick(a, __second=8)
        return super().chosen(a, b)

    def __pick(self, __first: Any, **rest: int) -> Any:
        __kept = self.__hidden
        return __kept if __first else rest["__second"]

    @classmethod
    def by_class(cls, a: Any, b: Any) -> Any:
        return cls.level if a else cls.__hidden

    def private(self, a: Any, b: Any) -> Any:
        if a:
            __y = 1
        else:
            __y = 2
            if b:
                __y = self.__hidden
        return __y

    @staticmethod
    def by_nobody(a: Any, b: Any) -> Any:
        return 1 if a and b else 0

    @property
    def bound(self) -> Callable[[Any, Any], Any]:
        return self.chosen


def test_methods_and_objects() -> None:
    augment = Augment()
    want = lambda a, b: (7 if a else 8) if b else (3 if a else 4)  # noqa: E731
    expect(augment, want)
    expect(augment.__call__, want)
    expect(lambda a, b: Augment()(a, b), want)
    expect(Augment.by_class, lambda a, b: 3 if a else 7)
    expect(Augment.by_nobody, lambda a, b: 1 if a and b else 0)
    expect(augment.private, lambda a, b: 1 if a else (7 if b else 2))
    expect(augment.bound, lambda a, b: 3 if a else 4)
    expect(lambda a, b: functools.partial(Augment.chosen, augment, b=b)(a), lambda a, b: 4 - a)


def twice(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def both_times(a: Any, b: Any, /, *more: Any, **named: Any) -> Any:
        if b:
            return function(a, b, *more, **named)
        return -1

    return both_times


@twice
@twice
def decorated(a: Any, b: Any, *, low: int = 5, high: int = 6) -> Any:
    return high if a else low


def test_decorated_functions() -> None:
    expect(decorated, lambda a, b: (6 if a else 5) if b else -1)
    expect(lambda a, b: decorated(a, b, low=2), lambda a, b: (6 if a else 2) if b else -1)


first, second = (lambda a, b: 1 if a else 2), lambda a, b: (lambda c: 3 if c else 4)(b)


def test_lambdas() -> None:
    expect(first, lambda a, b: 1 if a else 2)
    expect(second, lambda a, b: 3 if b else 4)
    choices = {"a": lambda a, b: 5 if a else 6, "b": lambda a, b: 7 if a or b else 8}
    expect(lambda a, b: choices["a"](a, b), lambda a, b: 5 if a else 6)
    expect(choices["b"], lambda a, b: 7 if a or b else 8)


def values(a: Any, b: Any) -> Iterator[Any]:
    for c in (a, b):
        x = 1
        if c:
            x = 2
        yield x


def test_generators() -> None:
    expect(lambda a, b: list(values(a, b))[1], lambda a, b: 2 if b else 1)

    def in_a_branch(a: Any, b: Any) -> Any:
        if a:
            yield 1
        yield 2

    with pytest.raises(GraphError, match="takes no `yield`"):
        samples(lambda a, b: next(in_a_branch(a, b)))


SOURCE = """
def made(a, b):
    return 1 if a else 2
"""


def test_code_that_was_made_from_text() -> None:
    names: dict[str, Any] = {"__name__": "made_for_this_test"}
    exec(SOURCE, names)
    with pytest.raises(GraphError, match="functions whose source can be read"):
        samples(names["made"])
    file = "<made for this test>"
    linecache.cache[file] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), file)
    exec(compile(SOURCE, file, "exec"), names)
    expect(names["made"], lambda a, b: 1 if a else 2)


def test_what_stays_as_it_is() -> None:
    class Kept:
        @stoker.do_not_convert
        def __call__(self, a: Any, b: Any) -> Any:
            return 1 if a else 2

    with pytest.raises(GraphError, match="has no value while the pipeline is being defined"):
        samples(Kept())


def test_tracebacks_show_the_lines_of_the_user() -> None:
    def fails(a: Any, b: Any) -> Any:
        if a:
            x = 1
        else:
            x = 2
            raise ValueError("here")
        return x

    with pytest.raises(ValueError, match="here") as caught:
        samples(fails)
    line = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert line.filename == __file__ and line.line == 'raise ValueError("here")'
    assert line.name == "fails"


def test_names_of_comprehensions_are_their_own() -> None:
    def define(a: Any, b: Any) -> Any:
        x, n = 1, 5
        if a:
            x = 2
            n = sum([x + 0 for x in range(4)] + list({k: n for k in "ab" for n in (1, 2)}.values()))
        else:
            m = [last := y for y in range(3)]
            n = last + len(m)
        return x if b else n

    expect(define, lambda a, b: (2 if a else 1) if b else (10 if a else 5))


def test_names_of_patterns_imports_and_definitions() -> None:
    def define(a: Any, b: Any) -> Any:
        whole, rest, tail = 9, {"z": 8}, [7]
        if a:
            match {"k": 1, "z": 2}:
                case {"k": whole, **rest}:
                    pass
            match [3, 4]:
                case [_, *tail]:
                    pass
        return whole, rest["z"], tail[0]

    expect(lambda a, b: define(a, b)[0], lambda a, b: 1 if a else 9)
    expect(lambda a, b: define(a, b)[1], lambda a, b: 2 if a else 8)
    expect(lambda a, b: define(a, b)[2], lambda a, b: 4 if a else 7)

    def with_functions(a: Any, b: Any) -> Any:
        if a:
            import math as name

            def function() -> int:
                return 1
        else:
            import cmath as name

            def function() -> int:
                return 2

        with pytest.raises(GraphError, match=r"'name' has two values .* of type module and one"):
            name.pi  # noqa: B018
        with pytest.raises(GraphError, match=r"'function' has two values .* type function and one"):
            function()
        return a

    expect(with_functions, lambda a, b: a)


def test_what_a_side_deletes_or_only_one_side_sets() -> None:
    def define(a: Any, b: Any) -> Any:
        x = y = 1
        if a:
            del x
            z = 4
        else:
            y = x + 1
        with contextlib.suppress(GraphError):
            x + 1
            raise AssertionError
        with contextlib.suppress(GraphError):
            return fn.copy(z)
        if b:
            x = z = 5
        else:
            x = z = 6
        return x if a else y

    expect(define, lambda a, b: (5 if b else 6) if a else 2)


def test_equal_values_stay_values_of_python() -> None:
    def define(a: Any, b: Any) -> Any:
        text, number, array, shape = "y", 1, np.zeros(2), (2, 3)
        if a:
            text, number, array, shape = "x" + str(1), 3, np.ones(2), (4, 3)
        else:
            text, number, array, shape = "x" + str(number), 3, np.ones(2), (4, 2)
        assert text == "x1" and type(number) is int and type(array) is np.ndarray
        assert isinstance(shape[0], int) and isinstance(shape[1], DataNode)
        return shape[1] if b else fn.constant(idata=[number], shape=[])

    expect(define, lambda a, b: (3 if a else 2) if b else 3)


def test_numbers_of_two_types_are_not_equal() -> None:
    for one in (1.0, True, np.uint8(1), np.ones(1, np.int32)):

        def define(a: Any, b: Any, one: Any = one) -> Any:
            x = 1
            if a:
                x = one
            return x

        with pytest.raises(SampleError, match="expect the same dtype, number of axes and layout"):
            samples(define)


def test_a_result_that_one_side_returns() -> None:
    def define(a: Any, b: Any) -> Any:
        if a:
            return 1
        return None

    with pytest.raises(GraphError, match=r"one side of the `if` on a node at .* returns nothing"):
        samples(lambda a, b: fn.copy(define(a, b)))


def test_a_side_may_raise_and_be_caught() -> None:
    def define(a: Any, b: Any) -> Any:
        try:
            if a:
                x = fn.copy(1)
                raise ValueError
        except ValueError:
            x = fn.copy(2)  # in no branch any more
        return x

    expect(define, lambda a, b: 2)


def test_loops_over_python_values() -> None:
    def define(a: Any, b: Any) -> Any:
        x = 0
        for k, c in enumerate([a, b, a]):
            if k == 2:
                break
            if c:
                x = 10 * (k + 1)
        return x

    expect(define, lambda a, b: 20 if b else 10 if a else 0)


def test_with_blocks_and_functions_inside() -> None:
    def define(a: Any, b: Any) -> Any:
        total = 0

        def choose(c: Any) -> Any:
            nonlocal total
            total = 2
            if c:
                total = 1
            return total

        with contextlib.nullcontext(3) as three:
            if a:
                with contextlib.nullcontext():
                    three = 4
        choose(b)
        return total if a else three

    expect(define, lambda a, b: (1 if b else 2) if a else 3)
