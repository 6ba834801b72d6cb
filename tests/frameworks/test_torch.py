# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's iterators: what a step holds, whose memory it is, arguments, errors."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numbered import Numbers
from torch_steps import all_labels, flat, labels, training

from helpers import make, run_script
from stoker import Pipeline, fn, types
from stoker.errors import DeviceError, GraphError, SampleError, SourceError
from stoker.torch import (
    DALIClassificationIterator,
    DALIGenericIterator,
    DALIRaggedIterator,
    DataIterator,
    LastBatchPolicy,
    feed_ndarray,
    to_torch_type,
)


def ragged(pictures: Path) -> Pipeline:
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=pictures, name="reader")
        return fn.decoders.image(encoded), label

    return make(define, batch_size=4)


def test_a_loop_gives_dicts_of_tensors(pictures: Path) -> None:
    iterator = DataIterator(training(pictures), ["image", "label"])
    judge = training(pictures)
    assert (len(iterator), iterator.size, iterator.batch_size) == (6, 24, 4)
    for _ in range(2):
        for step, (image, label) in zip(iterator, judge, strict=True):
            assert list(step) == ["image", "label"]
            assert step["image"].dtype == torch.float32
            assert step["image"].shape == (4, 3, 16, 16)
            assert np.array_equal(step["image"].numpy(), image.as_array())
            assert np.array_equal(step["label"].numpy(), label.as_array())


def test_the_established_iterators(pictures: Path) -> None:
    pipes = [training(pictures) for _ in range(2)]
    generic = DALIGenericIterator(pipes, ["a", "b"], reader_name="reader")
    step = next(generic)
    assert [list(one) for one in step] == [["a", "b"]] * 2
    assert torch.equal(step[0]["a"], step[1]["a"])
    data = DALIClassificationIterator(training(pictures), reader_name="reader").next()
    assert list(data[0]) == ["data", "label"]
    assert torch.equal(data[0]["data"], step[0]["a"])


def test_policies_are_numbered_as_established() -> None:
    assert {p.name: p.value for p in LastBatchPolicy} == {"FILL": 0, "DROP": 1, "PARTIAL": 2}


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.uint16, torch.int16, torch.uint32,
                                   torch.int32, torch.uint64, torch.int64, torch.float16,
                                   torch.float32, torch.float64, torch.bool])  # fmt: skip
def test_every_type(dtype: torch.dtype) -> None:
    name = str(dtype).removeprefix("torch.")
    pipe = make(lambda: fn.constant(idata=[0, 1, 1], shape=[3], dtype=name), batch_size=2)
    (tensor,) = next(DataIterator(pipe, ["x"])).values()
    assert tensor.dtype == dtype
    assert tensor.tolist() == [[0, 1, 1]] * 2
    assert to_torch_type[types.DType(name)] == dtype


def test_no_copy(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    run = Pipeline.run
    monkeypatch.setattr(Pipeline, "run", lambda self: given.append(run(self)) or given[-1])
    for step in DataIterator(training(pictures), ["image", "label"]):
        for tensor, batch in zip(step.values(), given[-1], strict=True):
            assert tensor.data_ptr() == batch.as_tensor().data_ptr
            assert tensor.is_contiguous()
    partial = DALIGenericIterator(
        training(pictures, batch_size=5),
        ["image", "label"],
        reader_name="reader",
        last_batch_policy=LastBatchPolicy.PARTIAL,
    )
    last = [step[0]["image"] for step in partial][-1]
    assert len(last) == 4
    assert last.data_ptr() == given[-1][0].as_tensor().data_ptr


def test_a_tensor_outlives_everything(pictures: Path) -> None:
    pipe = training(pictures)
    iterator = DataIterator(pipe, ["image", "label"])
    kept = [next(iterator)["image"] for _ in range(3)]
    copies = [t.clone() for t in kept]
    for _ in range(2):
        for _ in iterator:
            pass
    del iterator, pipe
    gc.collect()
    other = DataIterator(training(pictures, seed=9), ["image", "label"])
    for _ in other:
        pass
    assert all(torch.equal(a, b) for a, b in zip(kept, copies, strict=True))


def test_writing_into_a_tensor_changes_nothing_else(pictures: Path) -> None:
    iterator = DataIterator(training(pictures), ["image", "label"])
    judge = DataIterator(training(pictures), ["image", "label"])
    for step, expected in zip(iterator, judge, strict=True):
        assert torch.equal(step["image"], expected["image"])
        assert torch.equal(step["label"], expected["label"])
        step["image"].fill_(-1)
        step["label"].fill_(-1)


def test_iterators_come_and_go_in_flat_memory(pictures: Path) -> None:
    """Runs 50 epochs, each with an iterator and a pipeline of its own, after some to warm up."""
    script = """
import ctypes, statistics, sys
sys.path[:0] = [{tests!r}, {here!r}]
from pathlib import Path
from torch_steps import training
from stoker.torch import DataIterator

def resident():
    ctypes.CDLL(None).malloc_trim(0)  # What is freed does not count.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))

def epoch():
    with training({pictures!r}, size=64, batch_size=8) as pipe:
        for step in DataIterator(pipe, ["image", "label"]):
            step["image"].sum()

sizes = []
for _ in range(60):
    epoch()
    sizes.append(resident())  # with no pipeline about: what an open one holds depends on its lead
print(int(statistics.median(sizes[5:15])), int(statistics.median(sizes[-10:])))
"""
    here = Path(__file__).resolve().parent
    names = {"tests": str(here.parent), "here": str(here), "pictures": str(pictures)}
    # With an arena for each thread, the allocator keeps what is free at the top of each, 20 MB at
    # times, and `malloc_trim` gives back only the top of the first.
    done = run_script(script.format(**names), MALLOC_ARENA_MAX="1")
    assert done.returncode == 0, done.stderr
    early, late = map(int, done.stdout.split())
    # The tensors of an epoch have 1.2 MB, of all epochs 54 MB. The two medians differ by 0.1 MB.
    assert late < early + 2 * 1024, f"{early} kB at first, {late} kB in the end"


def test_batches_on_a_device_are_refused(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")

    def define() -> Any:
        return fn.constant(idata=[1, 2], shape=[2], dtype="int32").gpu()

    for iterator in (
        DataIterator(make(define, device_id=0), ["x"]),
        DataIterator(make(define, device_id=0), ["x"], ragged=["x"]),
    ):
        with pytest.raises(DeviceError, match=r"memory of simulated:0, which torch cannot see"):
            next(iterator)
    (batch,) = make(define, device_id=0).run()
    with pytest.raises(DeviceError, match="simulated:0"):
        feed_ndarray(batch, torch.zeros(1, 2, dtype=torch.int32))


def test_a_torch_without_a_gpu_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class OnGpu:
        device = "cuda:0"

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    data: Any = OnGpu()
    with pytest.raises(
        DeviceError, match=r"memory of cuda:0, and this torch .* sees no GPU.*as_cpu"
    ):
        feed_ndarray(data, torch.zeros(1))


def test_pinned_memory(numbers: Numbers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DeviceError, match="pin_memory=True needs a CUDA device"):
        DataIterator(numbers(7, 2), ["label"], pin_memory=True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self + 100)
    iterator = DataIterator(numbers(7, 2), ["label"], pin_memory=True)
    assert labels(next(iterator)) == [101, 102]
    listed = DataIterator(numbers(7, 2), ["label"], pin_memory=True, ragged=["label"])
    assert [int(t) for t in next(listed)["label"]] == [101, 102]


def test_ragged_outputs_are_refused_with_advice(pictures: Path) -> None:
    for iterator, advice in (
        (DataIterator(ragged(pictures), ["image", "label"]), r"name the output in ragged="),
        (
            DALIGenericIterator(ragged(pictures), ["image", "label"], dynamic_shape=True),
            r"DALIRaggedIterator.*dynamic_shape",
        ),
        (DALIRaggedIterator(ragged(pictures), ["image", "label"]), "SPARSE_LIST_TAG"),
    ):
        message = rf"output 'image': the samples differ in shape \(\(\d+, \d+, 3\).*{advice}"
        with pytest.raises(GraphError, match=message):
            next(iterator)


def test_ragged_outputs_as_lists(pictures: Path) -> None:
    judge = ragged(pictures)
    plain = DataIterator(ragged(pictures), ["image", "label"], ragged=["image"])
    tagged = DALIRaggedIterator(
        ragged(pictures),
        ["image", "label"],
        reader_name="reader",
        output_types=[DALIRaggedIterator.SPARSE_LIST_TAG, DALIRaggedIterator.DENSE_TAG],
    )
    for step, (established,), (image, _) in zip(plain, tagged, judge, strict=True):
        assert step["label"].shape == established["label"].shape == (4, 1)
        for sample, other, expected in zip(step["image"], established["image"], image, strict=True):
            assert np.array_equal(sample.numpy(), expected.as_array())
            assert torch.equal(sample, other)


def test_ragged_outputs_as_sparse_tensors(pictures: Path) -> None:
    iterator = DALIRaggedIterator(
        ragged(pictures),
        ["image", "label"],
        reader_name="reader",
        output_types=[DALIRaggedIterator.SPARSE_COO_TAG, DALIRaggedIterator.DENSE_TAG],
    )
    sparse = next(iterator)[0]["image"]
    samples = [np.asarray(s) for s in ragged(pictures).run()[0]]
    assert sparse.shape == (4, *np.max([s.shape for s in samples], 0))
    assert sparse._nnz() == sum(s.size for s in samples)
    dense = sparse.to_dense().numpy()
    for got, sample in zip(dense, samples, strict=True):
        height, width, _ = sample.shape
        assert np.array_equal(got[:height, :width], sample)
        assert not got[height:].any() and not got[:, width:].any()


def test_a_shard_without_samples_gives_an_empty_sparse_tensor(pictures: Path) -> None:
    pipes = [make(lambda: fn.external_source(lambda i: [np.ones((2, 3))])) for _ in range(2)]
    iterator = DALIRaggedIterator(
        pipes,
        ["x"],
        size=1,
        last_batch_policy=LastBatchPolicy.PARTIAL,
        output_types=[DALIRaggedIterator.SPARSE_COO_TAG],
    )
    full, empty = (step["x"] for step in next(iterator))
    assert full.shape == (1, 2, 3)
    assert (empty.shape, empty.dtype, empty._nnz()) == ((0, 0, 0), torch.float64, 0)


def test_output_types_are_checked(pictures: Path) -> None:
    for wrong in (["dense"], ["dense", "thin"]):
        with pytest.raises(GraphError, match=r"output_types expects one of dense, .* 2 outputs"):
            DALIRaggedIterator(ragged(pictures), ["image", "label"], output_types=wrong)
    with pytest.raises(GraphError, match="ragged names"):
        DataIterator(ragged(pictures), ["image", "label"], ragged=["picture"])


def test_feed_ndarray(pictures: Path) -> None:
    image, _ = training(pictures).run()
    target = torch.zeros(4, 3, 16, 16)
    assert feed_ndarray(image, target) is target
    assert np.array_equal(target.numpy(), image.as_array())
    one = torch.zeros(3, 16, 16)
    feed_ndarray(image[2], one)
    assert torch.equal(one, target[2])
    with pytest.raises(GraphError, match=r"float32 \(4, 3, 16, 16\), got torch.float64 \(2,\)"):
        feed_ndarray(image, torch.zeros(2, dtype=torch.float64))


def test_wrong_arguments(numbers: Numbers) -> None:
    def wrong(message: str, pipes: Any, names: Any = ("label",), **arguments: Any) -> None:
        with pytest.raises(GraphError, match=message):
            DALIGenericIterator(pipes, names, **arguments)

    pipe = numbers(7, 2)
    wrong("leave size= out", pipe, size=7, reader_name="reader")
    wrong("leave last_batch_padded= out", pipe, last_batch_padded=True, reader_name="reader")
    wrong("no reader is named 'raeder'. Did you mean 'reader'", pipe, reader_name="raeder")
    wrong("distinct names", pipe, ["label", "label"])
    wrong("names 2 outputs .image, label., pipeline 0 has 1", pipe, ["image", "label"])
    wrong("auto_reset expects", pipe, auto_reset="maybe")
    wrong("size expects a number of samples, or -1, got 0", pipe, size=0)
    wrong("at least one pipeline", [])
    wrong(r"one batch_size, got \[2, 3\]", [pipe, numbers(7, 3)], size=7)
    wrong("several pipelines needs reader_name or size", [pipe, numbers(7, 2)])
    wrong("last_batch_policy expects", pipe, size=7, last_batch_policy="fill")
    two = [numbers(7, 2, 0, 2), numbers(7, 2, 0, 2)]
    wrong("pipeline 0 and pipeline 1 both read shard 0 of 2", two, reader_name="reader")
    two = [numbers(7, 2, 0, 2, key=3), numbers(7, 2, 1, 2, key=4)]
    wrong("order's key: pipeline 0 has 3, pipeline 1 has 4", two, reader_name="reader")


def test_the_lead_reader_is_found(numbers: Numbers, pictures: Path) -> None:
    def define(lead: str) -> Any:
        def graph() -> Any:
            _, a = fn.readers.file(file_root=pictures, name="a")
            _, b = fn.readers.file(
                file_root=pictures, dir_filters=["b*"], name="b", lead=lead == "b"
            )
            return a, b

        return graph

    assert make(define("a")).lead_reader == "a"
    assert make(define("b")).lead_reader == "b"
    assert make(fn.random.coin_flip).lead_reader is None
    few = DataIterator(make(define("b")), ["x", "y"])
    assert len(few) == len(list(few)) == make(define("b")).epoch_size("b") < 24


def test_fill_last_batch_is_deprecated(numbers: Numbers) -> None:
    for fill, policy, last in ((True, "FILL", [7, 1]), (False, "PARTIAL", [7])):
        with pytest.warns(DeprecationWarning, match=f"LastBatchPolicy.{policy}") as caught:
            iterator = DALIGenericIterator(
                numbers(7, 2), ["label"], reader_name="reader", fill_last_batch=fill
            )
        assert caught[0].filename == __file__
        assert all_labels(iterator)[-1] == last


def test_a_failed_step_counts_and_the_others_go_on(pictures: Path, damaged: Path) -> None:
    def pipe(root: Path) -> Pipeline:
        def define() -> Any:
            encoded, label = fn.readers.file(file_root=root, name="reader")
            return label, fn.resize(fn.decoders.image(encoded), size=[4, 4])

        return make(define, batch_size=4)

    pipes = [pipe(damaged), pipe(pictures)]
    iterator = DALIGenericIterator(pipes, ["label", "image"], size=48)
    judge = DALIGenericIterator([pipe(pictures), pipe(pictures)], ["label", "image"], size=48)
    with pytest.raises(SampleError):
        next(iterator)
    next(judge)
    rest, expected = list(iterator), list(judge)
    assert len(rest) == len(expected) == 5
    for got, right in zip(rest, expected, strict=True):
        assert all(torch.equal(g["label"], r["label"]) for g, r in zip(got, right, strict=True))


@pytest.mark.parametrize("bad", [5, 6, 7])
def test_skipped_samples_of_the_last_batch(numbers: Numbers, tmp_path: Path, bad: int) -> None:
    """PARTIAL gives those of the epoch's own samples that are left, whichever are missing."""
    files = [tmp_path / f"{i}" for i in range(1, 8)]
    for i, file in enumerate(files, 1):
        if i != bad:
            file.write_bytes(b"x")

    def define() -> Any:
        return fn.readers.file(files=files, labels=list(range(1, 8)), name="reader")[1]

    iterator = DataIterator(
        make(define, batch_size=5, on_error="skip"),
        ["label"],
        last_batch_policy=LastBatchPolicy.PARTIAL,
    )
    assert flat(all_labels(iterator)) == [i for i in range(1, 8) if i != bad]


@pytest.mark.parametrize("shards", [1, 2])
def test_a_failed_source_takes_its_step(tmp_path: Path, shards: int) -> None:
    files = [tmp_path / f"{i}" for i in range(1, 8 * shards + 1)]
    for file in files:
        file.write_bytes(b"x")
    fails = {1}

    def source(i: int) -> np.ndarray[Any, Any]:
        if i in fails:
            fails.remove(i)
            raise OSError("no such row")
        return np.full((2, 1), i)

    def define(shard: int) -> Any:
        reader = {"shard_id": shard, "num_shards": shards, "pad_last_batch": True}
        names = list(range(1, len(files) + 1))
        label = fn.readers.file(files=files, labels=names, name="reader", **reader)[1]
        return label, fn.external_source(source if shard == 0 else lambda i: np.full((2, 1), i))

    pipes = [make(lambda s=s: define(s), batch_size=2) for s in range(shards)]
    iterator = DALIGenericIterator(pipes, ["label", "row"], reader_name="reader", auto_reset=True)
    got: list[Any] = []
    for _ in range(10):
        try:
            step = next(iterator)
            got.append([(labels([part]), int(part["row"][0])) for part in step])
        except SourceError as e:
            assert "no such row" in str(e)
            got.append("failed")
        except StopIteration:
            got.append("end")
    assert got[1] == "failed" and got[4] == "end" and got[9] == "end"
    for k, step in enumerate(got):
        if isinstance(step, list):
            assert len({row for _, row in step}) == 1, f"step {k}: pipelines go in step"
    assert [sorted(x for part, _ in step for x in part) for step in (got[0], got[5])] == (
        [[1, 2]] * 2 if shards == 1 else [[1, 2, 9, 10]] * 2
    )


def test_stoker_imports_no_torch() -> None:
    done = run_script("import stoker, sys; print('torch' in sys.modules)")
    assert done.stdout == "False\n"
    assert types.FLOAT  # the package that is being tested
