# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on nodes: values that test_peer_arithmetic.py does not ask for, and what is merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arithmetic_cases as cases
import numpy as np
import pytest
from arithmetic_nodes import node, nodes_of, result, results

import stoker
from helpers import Array, difference, make, same, samples_of
from stoker import DataNode, Pipeline, fn, math, newaxis, pipeline_def, types
from stoker.errors import GraphError, SampleError


def test_whole_numbers_of_64_bits_are_exact() -> None:
    big = np.array([2**63 + 5, 2**64 - 1], "uint64")
    low = np.array([-(2**63), -1], "int64")
    got = results(
        lambda: (
            node(big) + node(np.uint64([10, 1])),
            node(low) - 1,
            node(big) == node(low),
            node(big) > node(low),
            node(low) >= node(big),
            node(np.int64([2**62 + 1])) * 3,
        )
    )
    assert got[0].tolist() == [2**63 + 15, 0]
    assert got[1].tolist() == [2**63 - 1, -2]
    assert [g.tolist() for g in got[2:5]] == [[False, False], [True, True], [False, False]]
    assert got[5].tolist() == [(3 * (2**62 + 1) + 2**63) % 2**64 - 2**63]


def test_the_smallest_number_divided_by_minus_one_wraps() -> None:
    for dtype in ("int8", "int16", "int32", "int64"):
        low = np.array([np.iinfo(dtype).min], dtype)
        by = np.array([-1], dtype)
        got = results(lambda low=low, by=by: (node(low) // node(by), node(low) % node(by)))
        assert got[0] == low and got[1] == 0 and got[0].dtype == got[1].dtype == dtype


def test_numbers_beyond_int32_are_int64() -> None:
    got = results(
        lambda: (node(np.uint8([1])) + 2**40, node(np.int32([5])) < 2**31, 2**40 - node([1]))
    )
    assert [g.dtype for g in got] == ["int64", "bool", "int64"]
    assert [g[0] for g in got] == [2**40 + 1, True, 2**40 - 1]
    with pytest.raises(GraphError, match="a whole number of 64 bits"):
        result(lambda: node([1]) + 2**70)


def test_numpy_scalars_of_every_dtype() -> None:
    for dtype in cases.DTYPES:
        number = np.dtype(dtype).type(1)
        if dtype == "bool":
            assert result(lambda n=number: node(np.uint8([3])) + n).dtype == "uint8"
            continue
        assert result(lambda n=number: node(np.zeros(1, bool)) + n).dtype == dtype
        other = result(lambda n=number: n + node(np.zeros(1, bool)))
        assert other.dtype == ("float32" if "float" in dtype else "int32")


def test_division_truly_divides() -> None:
    every = np.arange(256, dtype="uint8")
    got = results(lambda: (node(every) / 255, node(every) * (1 / 255)))
    assert same(got[0], every.astype("float32") / np.float32(255))
    assert (got[0] != got[1]).sum() == 126


def test_math_of_float64_is_accurate() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate(
        [rng.uniform(-1, 1, 300), rng.uniform(-20, 20, 300), [1e-9, 1e5, 3e8, 1e300]]
    )
    names = [n for n in cases.FUNCTIONS if n not in ("abs", "fabs", "rsqrt")]
    renamed = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
    renamed |= {"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
    got = results(lambda: tuple(getattr(math, name)(node(x)) for name in names))
    with np.errstate(all="ignore"):
        for name, value in zip(names, got, strict=True):
            right = getattr(np, renamed.get(name, name))(x)
            assert np.allclose(value, right, 4e-15, 1e-15, equal_nan=True), name


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_a_long_loop_makes_few_nodes(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")

    def define() -> DataNode:
        x = node(np.arange(5))
        x = x.gpu() if device == "gpu" else x
        for k in range(500):
            x = x + k
        return x

    assert result(define, device_id=0).tolist() == (np.arange(5) + sum(range(500))).tolist()
    assert len(nodes_of(define)) < 20


def test_an_expression_is_one_node() -> None:
    def define() -> DataNode:
        a, b, c = (node(np.int32([7, x])) for x in (1, 2, 3))
        return (a - b) * c + 1

    assert nodes_of(define)[3:] == ["arithmetic_0"]
    assert result(define).tolist() == [1, -2]


def test_what_is_used_twice_is_a_node() -> None:
    def define() -> tuple[DataNode, DataNode]:
        a = node(np.int32([7]))
        twice = a * 2
        return twice + 1, twice

    assert nodes_of(define)[1:] == ["arithmetic_0", "arithmetic_1"]
    assert [g.tolist() for g in results(define)] == [[15], [14]]

    def squares() -> DataNode:
        x = node(np.uint64([3]))
        for _ in range(5):
            x = x * x
        return x

    assert len(nodes_of(squares)) == 6
    assert result(squares).tolist() == [3**32]


def test_what_nothing_uses_is_no_node() -> None:
    def define() -> DataNode:
        a = node([1])
        _ = a + 2
        return a

    assert len(nodes_of(define)) == 1


def test_expressions_have_names_and_devices() -> None:
    pipe = Pipeline(batch_size=1)
    with pipe:
        x = node([1]) + 1
        assert (x.name, x.device) == ("arithmetic_0", "cpu")
        assert repr(x) == "DataNode(name='arithmetic_0', device='cpu')"
        assert hash(x) == hash(x) and len({x, x}) == 1
        assert x in [x]  # the same object; == is not called
        assert isinstance(x == x, DataNode)


def test_a_node_cannot_be_unpacked_or_asked_for_a_truth() -> None:
    with Pipeline(batch_size=1):
        x = node([1, 2])
        with pytest.raises(TypeError, match="iterable"):
            _, _ = x
        with pytest.raises(GraphError, match="enable_conditionals"):
            bool(x > 1)


def test_nodes_of_two_pipelines_do_not_mix() -> None:
    with Pipeline(batch_size=1):
        x = node([1])
    with Pipeline(batch_size=1), pytest.raises(GraphError, match="belongs to another pipeline"):
        _ = x + node([1])


def test_other_values_are_refused_where_they_stand() -> None:
    with Pipeline(batch_size=1):
        for value in ("text", None, object(), [node([1])]):
            with pytest.raises(GraphError, match=r"arithmetic \(.*test_arithmetic.py:\d+\)"):
                _ = node([1]) + value
        with pytest.raises(GraphError, match=r"sqrt expects a node, got 4\.0"):
            math.sqrt(4.0)


def test_wrong_dtypes_are_refused_with_the_users_line() -> None:
    def define() -> DataNode:
        return node(np.zeros(2, bool)) + node(np.zeros(2, bool))

    with pytest.raises(GraphError, match=r"arithmetic_0.*test_arithmetic.py:\d+.*bool \+ bool"):
        result(define)


def numbered(count: int) -> DataNode:
    return fn.external_source(
        source=lambda: [np.array(k, "int32") for k in range(count)], dtype="int32", ndim=0
    )


def conditional(define: Callable[[], Any], **settings: Any) -> list[list[Any]]:
    pipe = pipeline_def(batch_size=6, num_threads=2, enable_conditionals=True, **settings)(define)()
    return [[np.array(s).tolist() for s in batch] for batch in pipe.run()]


def test_comparisons_decide_conditionals() -> None:
    def define() -> Any:
        x = numbered(6)
        y = x * 10
        if x > 3:
            z = y + 1
        elif not (x == 2) and x != 0:  # noqa: SIM201
            z = y - 1
        else:
            z = -y
        return z, y

    z, y = conditional(define)
    assert z == [0, 9, -20, 29, 41, 51]
    assert y == [0, 10, 20, 30, 40, 50]


def test_augmented_assignments() -> None:
    def define() -> Any:
        x = fn.cast(numbered(6), dtype=types.FLOAT)
        x /= 2
        if x > 1:
            x -= 1
            x *= x
        x += 0.5
        return x

    (got,) = conditional(define)
    assert got == [0.5, 1.0, 1.5, 0.75, 1.5, 2.75]


def test_what_was_made_before_a_branch_is_used_in_it() -> None:
    def define() -> Any:
        x = numbered(6)
        doubled = x * 2
        if x % 2 == 1:  # noqa: SIM108
            y = doubled + 100
        else:
            y = doubled
        return y, doubled

    y, doubled = conditional(define)
    assert y == [0, 102, 4, 106, 8, 110]
    assert doubled == [0, 2, 4, 6, 8, 10]


def test_logarithms_of_powers_are_whole() -> None:
    twos = 2.0 ** np.arange(-1000, 1001)
    tens = np.array([float(f"1e{k}") for k in range(-300, 309)])
    by_ten, by_two = results(lambda: (math.log10(node(tens)), math.log2(node(twos))))
    assert by_ten.tolist() == list(range(-300, 309))
    assert by_two.tolist() == list(range(-1000, 1001))


def test_a_division_by_zero_is_a_bad_sample() -> None:
    def define() -> DataNode:
        return 12 // numbered(4)

    pipe = pipeline_def(batch_size=4, num_threads=2, on_error="skip")(define)()
    (batch,) = pipe.run()
    assert [np.array(s).tolist() for s in batch] == [12, 6, 4]
    with pytest.raises(SampleError, match=r"arithmetic.*a whole number is divided by 0"):
        make(define, batch_size=4).run()


@pytest.mark.parametrize("executor", ["simple", "pipelined"])
@pytest.mark.parametrize("demand", [True, False])
def test_a_division_by_zero_that_nobody_needs_is_no_bad_sample(executor: str, demand: bool) -> None:
    divisors = np.ones((4, 5), np.int32)
    divisors[3, 3] = 0

    def part(end: int) -> Array:
        def define() -> DataNode:
            return (node(divisors) // node(divisors))[0:end, 0:end]

        return result(define, executor=executor, demand=demand)

    assert part(3).tolist() == np.ones((3, 3)).tolist()
    with pytest.raises(SampleError, match="a whole number is divided by 0"):
        part(4)


def test_indices_may_be_nodes() -> None:
    table = np.arange(24).reshape(4, 6)

    def define() -> Any:
        x, k = node(table, "HW"), numbered(3)
        return x[k], x[k:, ::-1], x[k, k + 1 : 5], x[..., -k - 1 : None : -2]

    got = samples_of(make(define, batch_size=3).run())
    for k, sample in enumerate(got):
        want = (table[k], table[k:, ::-1], table[k, k + 1 : 5], table[..., -k - 1 : None : -2])
        for a, b in zip(sample, want, strict=True):
            assert same(a, np.ascontiguousarray(b)), difference(a, b)


def test_layouts_of_parts() -> None:
    pipe = make(
        lambda: (
            node(np.zeros((2, 3, 4)), "HWC")[:, 0],
            node(np.zeros((2, 3, 4)), "HWC")[..., newaxis],
            node(np.zeros((2, 3, 4)), "HWC")[1:, None],
            node(np.zeros((2, 3)), "HW")[newaxis("C"), ..., newaxis("D")],
            node(np.zeros((2, 3)), "HW")[newaxis("C"), 0, newaxis],
            node(np.zeros((2, 3)))[newaxis("C")],
            node(np.zeros(2))[newaxis("C"), 0],
            node(np.zeros((2, 3)), "HW")[()],
        )
    )
    assert [(b.layout, np.array(b[0]).shape) for b in pipe.run()] == [
        ("HC", (2, 4)),
        ("", (2, 3, 4, 1)),
        ("HWC", (1, 3, 4)),
        ("CHWD", (1, 2, 3, 1)),
        ("", (1, 1, 3)),
        ("", (1, 2, 3)),
        ("C", (1,)),
        ("HW", (2, 3)),
    ]
    for name in ("CD", 3, "é"):
        with pytest.raises(GraphError, match="newaxis expects one letter"):
            newaxis(name)  # type: ignore[arg-type]
    with pytest.raises(GraphError, match="names a new axis H, which there is already"):
        make(lambda: node(np.zeros((2, 3)), "HW")[newaxis("H")]).build()


def test_an_index_out_of_range_is_a_bad_sample() -> None:
    pipe = make(lambda: node([[1, 2], [3, 4]])[numbered(4)], batch_size=4, on_error="skip")
    assert [np.array(s).tolist() for s in pipe.run()[0]] == [[1, 2], [3, 4]]


def test_wrong_indices_are_refused() -> None:
    with Pipeline(batch_size=1):
        for index in ("0", 1.5, True, [1], slice(0.5, None)):
            with pytest.raises(GraphError, match=r"subscript \(.*expect whole numbers"):
                _ = node([1, 2])[index]


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")


@pytest.mark.usefixtures("simulated")
def test_nodes_of_both_devices_meet_on_the_gpu() -> None:
    def define() -> Any:
        x = node(np.float32([[1, 2], [3, 4]]))
        y = (x.gpu() - fn.constant(idata=[1, 2])) * (x + 1)
        return y, y[1, :1].cpu()

    assert nodes_of(define, device_id=0).count("arithmetic_0") == 1
    got = results(define, device_id=0)
    assert got[0].tolist() == [[0, 0], [8, 10]] and got[1].tolist() == [8]


@pytest.mark.usefixtures("simulated")
def test_a_gpu_gives_zero_where_a_number_is_divided_by_zero() -> None:
    def define() -> Any:
        x = node(np.int32([5, -5])).gpu()
        return x // 0, x % 0

    assert [g.tolist() for g in results(define, device_id=0)] == [[0, 0], [0, 0]]


def picture() -> DataNode:
    rng = np.random.default_rng(1)
    return node(rng.integers(0, 256, (20, 30, 3), "uint8"), "HWC")


@pytest.mark.parametrize(
    "text",
    ["x / 255 - 0.5", "(x - 127.5) / 64 * 3 - 1", "1 - x * 0.25", "-(x / 7)", "x * 1.0 // 2.5"],
)
def test_what_is_float32_joins_the_pass_before_it(text: str) -> None:
    def define() -> DataNode:
        return eval(text, {"x": fn.resize(picture(), size=[9, 11])})

    pipe = make(define)
    assert "in one pass with" in pipe.plan() and "arithmetic_0" in pipe.plan()
    fused = result(define)
    assert same(fused, result(define, fuse=False))
    assert same(fused, result(define, executor="simple", fuse=False, demand=False))
    small = result(lambda: fn.resize(picture(), size=[9, 11])).astype("float32")
    f = np.float32
    want = {
        "x / 255 - 0.5": small / f(255) - f(0.5),
        "(x - 127.5) / 64 * 3 - 1": (small - f(127.5)) / f(64) * f(3) - f(1),
        "1 - x * 0.25": f(1) - small * f(0.25),
        "-(x / 7)": -(small / f(7)),
        "x * 1.0 // 2.5": small / f(2.5),
    }[text]
    assert same(fused, want), difference(fused, want)


def test_whole_numbers_do_not_become_blocks() -> None:
    def define() -> DataNode:
        return fn.flip(picture()) * 2 + 1

    assert "in one pass" not in make(define).plan()
    assert result(define).dtype == np.int32


def test_the_module_is_public() -> None:
    assert stoker.math is math and stoker.newaxis is newaxis
    x = np.float32([-2, 0, 3])
    got = results(lambda: (math.where(node(x) > 0, node(x), 0.5), abs(node(x)), pow(node(x), 2)))
    assert [g.tolist() for g in got] == [[0.5, 0.5, 3], [2, 0, 3], [4, 0, 9]]


def test_ranges_of_all_axes_join_the_pass_before_them() -> None:
    def define() -> DataNode:
        return fn.resize(picture(), size=[9, 11])[1:-1, ::-2] / 255

    assert "in one pass with subscript_0" in make(define).plan()
    whole = result(lambda: fn.resize(picture(), size=[9, 11]))
    want = whole[1:-1, ::-2].astype("float32") / np.float32(255)
    assert same(result(define), want) and same(result(define, fuse=False), want)
