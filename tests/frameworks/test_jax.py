# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""JAX's iterators: shardings, devices, alignment, 64-bit types, the decorator, peeking."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numbered import Numbers

from helpers import make, needs, run_script
from stoker import Pipeline, fn
from stoker.errors import DeviceError, EpochWarning, GraphError, StateError
from stoker.frameworks._epochs import LastBatchPolicy

pytestmark = [pytest.mark.xdist_group("jax"), needs("jax")]


@pytest.fixture(scope="module")
def jax() -> Any:
    """JAX with four CPU devices (conftest.py)."""
    import jax

    assert len(jax.local_devices()) == 4
    return jax


@pytest.fixture(scope="module")
def iterators(jax: Any) -> Any:
    import stoker.jax

    return stoker.jax


def sharding(jax: Any, *shape: int, axes: str = "xy", spec: tuple[Any, ...] = ("x",)) -> Any:
    devices = np.array(jax.local_devices()[: int(np.prod(shape))]).reshape(shape)
    mesh = jax.sharding.Mesh(devices, tuple(axes[: len(shape)]))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))


def values(array: Any) -> list[int]:
    return [int(x) for x in np.asarray(array).ravel()]


def shards(numbers: Numbers, count: int, n: int = 16, **settings: Any) -> list[Pipeline]:
    return [numbers(n, 2, s, count, **settings) for s in range(count)]


def test_arrays_are_where_they_should_be(jax: Any, iterators: Any, numbers: Numbers) -> None:
    step = next(iterators.DataIterator(numbers(4, 2), ["label"]))
    assert not step["label"].committed
    other = jax.local_devices()[2]
    array = next(iterators.DataIterator(numbers(4, 2), ["label"], device=other))["label"]
    assert array.devices() == {other}
    assert values(array) == [1, 2]


def test_jitted_functions_see_the_values(jax: Any, iterators: Any, numbers: Numbers) -> None:
    add = jax.jit(lambda total, step: total + step["label"].sum())
    total = 0
    for step in iterators.DataIterator(numbers(8, 2), ["label"]):
        total = add(total, step)
    assert int(total) == 36


def test_samples_that_are_not_aligned_are_copied(
    jax: Any, iterators: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def define() -> Any:
        return fn.constant(idata=list(range(24)), shape=[24], dtype="uint8")

    given: list[Any] = []
    run = Pipeline.run
    monkeypatch.setattr(Pipeline, "run", lambda self: given.append(run(self)) or given[-1])
    step = next(iterators.DataIterator(make(define, batch_size=4), ["x"], ragged=["x"]))
    addresses = [batch.data_ptr for batch in given[-1][0]]
    is_same = [a.unsafe_buffer_pointer() == b for a, b in zip(step["x"], addresses, strict=True)]
    assert is_same == [address % 64 == 0 for address in addresses]
    assert is_same[0] and not is_same[1]
    assert all(values(sample) == list(range(24)) for sample in step["x"])


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
def test_64_bit_types(jax: Any, iterators: Any, dtype: str) -> None:
    big = 2**40 + 1

    def define() -> Any:
        value = fn.cast(fn.constant(fdata=[2.0**40], shape=[1], dtype="float64"), dtype=dtype)
        return value

    narrow = dtype.replace("64", "32")
    message = rf"output 'x' is {dtype}, .*jax_enable_x64.*fn.cast\(..., dtype='{narrow}'\)"
    with pytest.raises(GraphError, match=message):
        next(iterators.DataIterator(make(define), ["x"]))
    with jax.enable_x64(True):
        array = next(iterators.DataIterator(make(define), ["x"]))["x"]
        assert array.dtype == dtype
        assert int(array[0, 0]) == big - 1


def test_scripts_of_the_established_library_get_64_bit_types_narrowed(jax: Any) -> None:
    from stoker import compat

    compat.install()
    library, jax_plugin = compat.module(""), compat.module("plugin.jax")

    @library.pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def pipe() -> Any:
        return library.fn.constant(idata=[3, -4], shape=[2], dtype=library.types.INT64)

    step = next(iter(jax_plugin.DALIGenericIterator([pipe()], ["x"], size=2)))
    assert (step["x"].dtype, values(step["x"])) == ("int32", [3, -4, 3, -4])


@pytest.mark.parametrize("module", ["plugin.jax", "plugin.jax.iterator", "plugin.jax.clu"])
@pytest.mark.parametrize(
    ("value", "narrow", "warns"),
    [
        (np.array([2**40 + 7]), [7], True),
        (np.array([-(2**31), 2**31 - 1]), [-(2**31), 2**31 - 1], False),
        (np.array([2**32], np.uint64), [0], True),
        (np.array([0.5, -np.inf, np.nan]), [0.5, -np.inf, np.nan], False),
        (np.array([0.5, 1e300]), [0.5, np.inf], True),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
def test_what_narrowing_changes_is_told_once_of_each_output(
    jax: Any, module: str, value: Any, narrow: list[Any], warns: bool
) -> None:
    from stoker import compat

    compat.install()
    library, plugin = compat.module(""), compat.module(module)
    decorate = getattr(plugin, ["data_iterator", "peekable_data_iterator"][module.endswith("clu")])

    @decorate(output_map=["x", "y"], size=6)
    def training() -> Any:
        x = library.fn.external_source(source=lambda: [value] * 2)
        return x, library.fn.constant(idata=[5], dtype=library.types.INT64)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        steps = list(training(batch_size=2, num_threads=1, device_id=None))
    assert len(steps) == 3
    for step in steps:
        np.testing.assert_array_equal(step["x"], [narrow] * 2)
        assert step["x"].dtype == value.dtype.name.replace("64", "32")
    texts = [str(w.message) for w in told if "jax_enable_x64" in str(w.message)]
    assert len(texts) == warns
    for text in texts:
        assert text.startswith(f"output 'x' is {value.dtype}") and "fn.cast" in text


def test_nothing_is_told_where_64_bit_types_are_on(jax: Any) -> None:
    from stoker import compat

    compat.install()
    library, plugin = compat.module(""), compat.module("plugin.jax")

    @plugin.data_iterator(output_map=["x"], size=2)
    def training() -> Any:
        return library.fn.external_source(source=lambda: [np.array([2**40 + 7])] * 2)

    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("error")
        (step,) = training(batch_size=2, num_threads=1, device_id=None)
        assert values(step["x"]) == [2**40 + 7] * 2


SEVERAL_ON_ONE_DEVICE = """
import numpy as np
from stoker import fn, pipeline_def
from stoker.errors import GraphError
from stoker.jax import DALIGenericIterator

@pipeline_def(batch_size=2, num_threads=1)
def pipe(first, wide=1):
    return fn.external_source(
        source=lambda i: np.full(wide, first + i.idx_in_epoch, np.int32), batch=False
    )

for step in DALIGenericIterator([pipe(0), pipe(10), pipe(20)], ["x"], size=12):
    (device,) = step["x"].devices()
    print(device.id, step["x"].tolist())
for arguments in ({}, {"pmap_compatible": False}, {"pmap_compatible": True}):
    print(next(DALIGenericIterator(pipe(5), ["x"], size=2, **arguments))["x"].shape)
try:
    next(DALIGenericIterator([pipe(0), pipe(0, wide=2)], ["x"], size=4))
except GraphError as e:
    print(e)
"""


def test_several_pipelines_on_one_device() -> None:
    done = run_script(SEVERAL_ON_ONE_DEVICE, XLA_FLAGS="")
    assert done.stdout.splitlines() == [
        "0 [[[0], [1]], [[10], [11]], [[20], [21]]]",
        "0 [[[2], [3]], [[12], [13]], [[22], [23]]]",
        *["(2, 1)", "(2, 1)", "(1, 2, 1)"],
        "output 'x': the pipelines' batches differ in shape ((2, 1), (2, 2))",
    ], done.stderr


def test_a_device_axis_for_one_pipeline(jax: Any, iterators: Any, numbers: Numbers) -> None:
    pipes = shards(numbers, 1)
    given = {"reader_name": "reader", "pmap_compatible": True}
    step = next(iterators.DALIGenericIterator(pipes, ["label"], **given))
    assert step["label"].shape[0] == 1


def test_a_sharding_over_rows(jax: Any, iterators: Any, numbers: Numbers) -> None:
    over = sharding(jax, 4)
    pipes = shards(numbers, 4)
    iterator = iterators.DALIGenericIterator(pipes, ["label"], reader_name="reader", sharding=over)
    (first, second) = list(iterator)
    expected_first, expected_second = [1, 2, 5, 6, 9, 10, 13, 14], [3, 4, 7, 8, 11, 12, 15, 16]
    for step, expected in ((first, expected_first), (second, expected_second)):
        array = step["label"]
        assert array.shape == (8, 1)
        assert array.sharding.is_equivalent_to(over, 2)
        assert values(array) == expected
        assert [s.data.shape for s in array.addressable_shards] == [(2, 1)] * 4
        assert {s.device for s in array.addressable_shards} == set(jax.local_devices())
    doubled = jax.jit(lambda x: x * 2, out_shardings=over)(second["label"])
    assert values(doubled) == [2 * x for x in expected_second]


def test_parts_of_a_sharding_are_not_copied(
    jax: Any, iterators: Any, numbers: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []
    run = Pipeline.run
    monkeypatch.setattr(Pipeline, "run", lambda self: given.append(run(self)) or given[-1])
    step = next(iterators.DataIterator(shards(numbers, 4), ["label"], sharding=sharding(jax, 4)))
    parts = sorted(step["label"].addressable_shards, key=lambda s: s.index[0].start or 0)
    addresses = [part.data.unsafe_buffer_pointer() for part in parts]
    assert addresses == [batch.as_tensor().data_ptr for (batch,) in given]


def test_a_sharding_over_columns_too(jax: Any, iterators: Any) -> None:
    """There are two blocks of rows. Each is split over two devices or given whole to both."""

    def pipes() -> list[Pipeline]:
        return [
            make(lambda k=k: fn.constant(idata=[k, k + 1], shape=[2], dtype="int32"), batch_size=3)
            for k in (10, 20)
        ]

    for spec, part in ((("x", "y"), (3, 1)), (("x",), (3, 2))):
        over = sharding(jax, 2, 2, spec=spec)
        array = next(iterators.DataIterator(pipes(), ["x"], size=12, sharding=over))["x"]
        assert values(array) == [10, 11] * 3 + [20, 21] * 3
        assert [s.data.shape for s in array.addressable_shards] == [part] * 4


def test_the_order_of_devices_is_the_shardings(jax: Any, iterators: Any, numbers: Numbers) -> None:
    mesh = jax.sharding.Mesh(np.array(jax.local_devices()[:2][::-1]), ("x",))
    over = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    array = next(iterators.DataIterator(shards(numbers, 2), ["label"], sharding=over))["label"]
    assert values(array) == [1, 2, 9, 10]
    assert [s.device.id for s in array.addressable_shards if s.index[0].start] == [0]


def test_several_without_a_sharding(jax: Any, iterators: Any, numbers: Numbers) -> None:
    dicts = next(iterators.DataIterator(shards(numbers, 2), ["label"]))
    assert [values(one["label"]) for one in dicts] == [[1, 2], [9, 10]]
    stacked = iterators.DALIGenericIterator(shards(numbers, 2), ["label"], reader_name="reader")
    array = next(stacked)["label"]
    assert array.shape == (2, 2, 1)
    assert [s.device.id for s in array.addressable_shards] == [0, 1]
    own = jax.local_devices()[2:]
    chosen = iterators.DALIGenericIterator(
        shards(numbers, 2), ["label"], reader_name="reader", devices=own
    )
    array = next(chosen)["label"]
    assert [s.device for s in array.addressable_shards] == own
    assert values(jax.pmap(lambda x: x + 1, devices=own)(array)) == [2, 3, 10, 11]


def test_what_cannot_be_sharded_is_refused(jax: Any, iterators: Any, numbers: Numbers) -> None:
    over = sharding(jax, 2)

    def wrong(message: str, count: int = 2, **arguments: Any) -> None:
        given = {"reader_name": "reader", **arguments}
        with pytest.raises(GraphError, match=message):
            iterators.DALIGenericIterator(shards(numbers, count), ["label"], **given)

    wrong(r"into 2 blocks and expects a pipeline for each, got 4", count=4, sharding=over)
    wrong("PARTIAL cannot be sharded", sharding=over, last_batch_policy=LastBatchPolicy.PARTIAL)
    wrong("PARTIAL cannot be sharded", last_batch_policy=LastBatchPolicy.PARTIAL)
    wrong("8 pipelines need a device each, there are only", count=8)
    wrong("2 pipelines need a device each, there are devices=", devices=jax.local_devices())
    wrong("exclude each other", sharding=over, devices=jax.local_devices())
    for other in ({"device": jax.local_devices()[0]}, {"ragged": ["label"]}):
        with pytest.raises(GraphError, match=f"sharding= and {next(iter(other))}= exclude"):
            iterators.DataIterator(shards(numbers, 2), ["label"], sharding=over, **other)
    pipes = [make(lambda k=k: fn.constant(idata=[1] * k, shape=[k])) for k in (2, 3)]
    with pytest.raises(GraphError, match=r"output 'x': the pipelines' batches differ in shape"):
        next(iterators.DataIterator(pipes, ["x"], size=4, sharding=over))


def definition(root: Path, shard_id: int = 0, num_shards: int = 1) -> Any:
    return fn.readers.file(
        file_root=root,
        shard_id=shard_id,
        num_shards=num_shards,
        random_shuffle=True,
        name="reader",
    )[1]


def test_the_decorator(jax: Any, iterators: Any, pictures: Path) -> None:
    one = iterators.data_iterator(definition, output_map=["label"], reader_name="reader")
    expected = [values(step["label"]) for step in one(pictures, batch_size=8)]
    assert [len(step) for step in expected] == [8, 8, 8]
    for over in ({"sharding": sharding(jax, 4)}, {"devices": jax.local_devices()}):
        make_iterator = iterators.data_iterator(
            output_map=["label"], reader_name="reader", auto_reset=True, **over
        )(definition)
        assert make_iterator.__name__ == "definition"
        iterator = make_iterator(pictures, batch_size=8, num_threads=1)
        assert (iterator.batch_size, len(iterator)) == (2, 3)
        assert [values(step["label"]) for step in iterator] == expected
        next(iterator)
        again = make_iterator(
            pictures, batch_size=8, num_threads=1, checkpoints=iterator.checkpoints()
        )
        rest = [values(step["label"]) for step in iterator]
        assert len(rest) == 2
        assert [values(step["label"]) for step in again] == rest


def test_batches_that_jax_cannot_see_are_refused(
    jax: Any, iterators: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    pipe = make(lambda: fn.constant(idata=[1, 2], shape=[2], dtype="int32").gpu(), device_id=0)
    with pytest.raises(DeviceError, match=r"memory of simulated:0, which JAX cannot see.*as_cpu"):
        next(iterators.DataIterator(pipe, ["x"]))

    class OnGpu:
        device = "cuda:0"

    if not any(d.platform == "gpu" for d in jax.devices()):
        data: Any = OnGpu()
        with pytest.raises(DeviceError, match=r"memory of cuda:0, and JAX has no GPU .*as_cpu"):
            iterators.DataIterator(pipe, ["x"]).to_tensor(data, 1)


def test_the_decorator_refuses(jax: Any, iterators: Any, pictures: Path) -> None:
    over = sharding(jax, 4)
    wrap = iterators.data_iterator(output_map=["label"], reader_name="reader", sharding=over)
    for batch_size in ({"batch_size": 6}, {}):
        with pytest.raises(GraphError, match=r"batch_size expects .* multiple of the 4 parts"):
            wrap(definition)(pictures, **batch_size)

    def forgetful(root: Path) -> Any:
        return fn.readers.file(file_root=root, name="reader")[1]

    with pytest.raises(
        GraphError, match=r"no effect on a reader: give .* to readers\.file 'reader'"
    ):
        wrap(forgetful)(pictures, batch_size=8)

    def halving(root: Path) -> Any:
        return fn.readers.file(file_root=root, name="reader", shard_id=0, num_shards=2)[1]

    message = r"reader 'reader' of halving reads shard 0 of 2, expected shard 0 of 4"
    with pytest.raises(GraphError, match=message):
        wrap(halving)(pictures, batch_size=8)
    with pytest.raises(GraphError, match="4 pipelines expect as many checkpoints: 1"):
        wrap(definition)(pictures, batch_size=8, checkpoints=["{}"])
    with pytest.raises(GraphError, match="exclude each other"):
        iterators.data_iterator(definition, sharding=over, devices=jax.local_devices())


def test_peeking(jax: Any, pictures: Path, tmp_path: Path) -> None:
    from stoker.jax.clu import DALIGenericPeekableIterator, peekable_data_iterator

    wrap = peekable_data_iterator(output_map=["label"], reader_name="reader", auto_reset=True)
    iterator = wrap(definition)(pictures, batch_size=8)
    assert isinstance(iterator, DALIGenericPeekableIterator)
    assert {k: (s.shape, s.dtype) for k, s in iterator.element_spec.items()} == {
        "label": ((8, 1), np.int32)
    }
    expected = [values(step["label"]) for step in wrap(definition)(pictures, batch_size=8)]
    for number, labels in enumerate(expected):
        assert values(iterator.peek_async().result()["label"]) == labels
        assert values(iterator.peek()["label"]) == labels
        iterator.save(tmp_path / f"{number}")
        assert values(next(iterator)["label"]) == labels
    with pytest.raises(StopIteration):
        iterator.peek()
    iterator.restore(tmp_path / "1")
    assert [values(step["label"]) for step in iterator] == expected[1:]


@pytest.mark.filterwarnings("error")
def test_a_look_is_no_loop_that_was_left(jax: Any, numbers: Numbers) -> None:
    from stoker.jax.clu import DALIGenericPeekableIterator

    iterator = DALIGenericPeekableIterator(numbers(5, 2), ["label"], reader_name="reader")
    iterator.peek()
    iterator.reset()  # the epoch has not begun
    assert [values(step["label"]) for step in iterator] == [[1, 2], [3, 4], [5, 1]]
    iterator.reset()
    next(iterator)
    iterator.peek()
    iterator.reset()  # drops what was looked at
    assert values(iterator.peek()["label"]) == [1, 2]
    with pytest.warns(EpochWarning, match="2 of 3 steps are left"):
        next(iterator)
        iterator.peek()
        iter(iterator)


def test_loops_that_are_left(jax: Any, numbers: Numbers) -> None:
    from stoker.jax import DataIterator

    data = DataIterator(numbers(6, 2), ["label"])
    assert values(next(iter(data))["label"]) == [1, 2]
    assert [values(step["label"]) for step in data] == [[1, 2], [3, 4], [5, 6]]


def test_peekable_steps_are_of_one_shape(jax: Any, numbers: Numbers) -> None:
    from stoker.jax.clu import DALIGenericPeekableIterator

    iterator = DALIGenericPeekableIterator(
        numbers(3, 2), ["label"], size=3, last_batch_policy=LastBatchPolicy.PARTIAL
    )
    next(iterator)
    with pytest.raises(ValueError, match=r"all steps must be of one shape and type"):
        next(iterator)


def test_peeking_where_a_source_cannot_say_where_it_stands(jax: Any) -> None:
    from stoker.jax.clu import DALIGenericPeekableIterator

    def source() -> Any:
        for i in range(3):
            yield np.full((2, 1), i, np.int32)

    pipe = make(lambda: fn.external_source(source), batch_size=2)
    iterator = DALIGenericPeekableIterator(pipe, ["x"])
    assert values(next(iterator)["x"]) == [0, 0]
    assert values(iterator.peek()["x"]) == [1, 1]
    for ask in (iterator.state_dict, iterator.checkpoints):
        with pytest.raises(StateError, match="cannot say where it stands"):
            ask()
    assert [values(step["x"])[0] for step in iterator] == [1, 2]


def test_processes_put_their_own_blocks(tmp_path: Path) -> None:
    """In a sharding over two processes with two devices each, iterators give the local blocks."""
    script = """
import sys
import jax, numpy as np
port, process = sys.argv[1:]
jax.distributed.initialize(f"127.0.0.1:{port}", 2, int(process))
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from stoker import fn
from stoker.jax import data_iterator

over = NamedSharding(Mesh(np.array(jax.devices()), ("x",)), P("x"))

@data_iterator(output_map=["n"], size=2, sharding=over)
def numbered(shard_id, num_shards):
    return fn.constant(idata=[shard_id, num_shards], shape=[2], dtype="int32")

step = next(numbered(batch_size=8))["n"]
parts = sorted(step.addressable_shards, key=lambda s: s.index[0].start or 0)
print(step.shape, [(p.index[0].start or 0, np.asarray(p.data).tolist()) for p in parts])
"""
    import socket
    from concurrent.futures import ThreadPoolExecutor

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(run_script, script, port, str(p), **flags) for p in range(2)]
    done = [job.result() for job in jobs]
    assert [d.returncode for d in done] == [0, 0], done[0].stderr + done[1].stderr
    expected = [
        [(rows, [[shard, 4]] * 2) for rows, shard in blocks]
        for blocks in (((0, 0), (2, 1)), ((4, 2), (6, 3)))
    ]
    assert [d.stdout.strip() for d in done] == [f"(8, 2) {blocks}" for blocks in expected]
