# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's datasets: graph mode, loops and epochs, what is declared, copies, training."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numbered import Numbers

from helpers import make, needs, run_script
from stoker import Pipeline, fn
from stoker.errors import GraphError
from stoker.frameworks._epochs import LastBatchPolicy

pytestmark = [pytest.mark.xdist_group("tensorflow"), needs("tensorflow")]


@pytest.fixture(scope="module")
def tf() -> Any:
    import tensorflow

    return tensorflow


@pytest.fixture(scope="module")
def datasets(tf: Any) -> Any:
    import stoker.tensorflow

    return stoker.tensorflow


def training(pictures: Path, size: int = 16, **settings: Any) -> Pipeline:
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=pictures, random_shuffle=True, name="reader")
        return fn.resize(fn.decoders.image(encoded), size=[size, size]), label

    return make(define, **{"batch_size": 4, **settings})


def labels(dataset: Any) -> list[list[int]]:
    return [[int(x) for x in np.ravel(label)] for label in dataset]


def test_elements_are_of_the_pipelines_types(tf: Any, datasets: Any, pictures: Path) -> None:
    image = tf.TensorSpec((4, 16, 16, 3), tf.uint8)
    label = tf.TensorSpec((4, 1), tf.int32)
    plain = datasets.Dataset(training(pictures))
    assert isinstance(plain, tf.data.Dataset)
    assert plain.element_spec == (image, label)
    named = datasets.Dataset(training(pictures), ["x", "y"])
    assert named.element_spec == {"x": image, "y": label}
    for (x, y), step in zip(plain, named, strict=True):
        assert np.array_equal(x, step["x"])
        assert np.array_equal(y, step["y"])


def test_shapes_that_only_the_run_tells(tf: Any, datasets: Any, pictures: Path) -> None:
    def define() -> Any:
        encoded, _ = fn.readers.file(file_root=pictures)
        return fn.resize(fn.decoders.image(encoded), resize_shorter=8)

    spec = datasets.Dataset(make(define)).element_spec
    assert spec == tf.TensorSpec((1, None, None, 3), tf.uint8)
    said = datasets.Dataset(make(define), output_shapes=(1, 8, None, 3), output_dtypes=tf.uint8)
    assert said.element_spec == tf.TensorSpec((1, 8, None, 3), tf.uint8)
    assert next(iter(said)).shape[1] == 8
    for on_error in ("skip", "drop"):
        shorter = datasets.Dataset(training(pictures, on_error=on_error))
        assert shorter.element_spec[1].shape.as_list() == [None, 1]
    partial = datasets.Dataset(training(pictures), last_batch_policy=LastBatchPolicy.PARTIAL)
    assert partial.element_spec[1].shape.as_list() == [None, 1]


def test_what_is_declared_must_fit(tf: Any, datasets: Any, pictures: Path) -> None:
    def wrong(message: str, **declared: Any) -> None:
        for kind in (datasets.Dataset, datasets.DALIDataset):
            with pytest.raises(GraphError, match=message):
                kind(training(pictures), **declared)

    dtypes = (tf.float32, tf.int32)
    wrong("output 0: output_dtypes says float32, the pipeline gives uint8", output_dtypes=dtypes)
    shapes = ((4, 16, 16, 3), (4,))
    message = r"output 1: output_shapes says \(4,\), the pipeline gives \(4, 1\) .*first axis"
    wrong(message, output_shapes=shapes)
    wrong("output_dtypes has 1 entries, the pipeline 2 outputs", output_dtypes=tf.uint8)
    wrong("output_shapes has 1 entries, the pipeline 2 outputs", output_shapes=(4, None))
    wrong("expects a tuple with one entry for each output", output_dtypes={"x": tf.uint8})
    with pytest.raises(GraphError, match="batch_size=8, but the pipeline's is 4"):
        datasets.DALIDataset(training(pictures), batch_size=8)
    with pytest.raises(GraphError, match="epochs expects a number from 1 on, or None, got 0"):
        datasets.Dataset(training(pictures), epochs=0)


def test_steps_that_are_dropped(tf: Any, datasets: Any, numbers: Numbers) -> None:
    def pipe(bad: range | tuple[int, ...]) -> Pipeline:
        return numbers(10, 2, bad=bad, on_error="drop")

    given = [[1, 2], [5], [7, 8]]
    dataset = datasets.Dataset(pipe((3, 4, 6, 9, 10)))
    assert dataset.steps_per_epoch == 5
    assert [labels(dataset) for _ in range(2)] == [given] * 2
    assert labels(datasets.Dataset(pipe((3, 4, 6, 9, 10)), epochs=2)) == given * 2
    endless = datasets.DALIDataset(pipe((3, 4, 6, 9, 10)))
    assert labels(endless.take(7)) == [*given, *given, given[0]]
    for kind in (datasets.Dataset, datasets.DALIDataset):
        with pytest.raises(Exception, match="dropped every batch of this epoch, 5 in all"):
            labels(kind(pipe(range(1, 11))))


def test_the_established_dataset(tf: Any, datasets: Any, numbers: Numbers) -> None:
    dataset = datasets.DALIDataset(
        pipeline=numbers(5, 2),
        batch_size=2,
        output_shapes=((2, 1),),
        output_dtypes=(tf.int32,),
        num_threads=3,
        device_id=0,
    )
    assert dataset.element_spec == (tf.TensorSpec((2, 1), tf.int32),)
    assert dataset.cardinality() == tf.data.INFINITE_CARDINALITY
    assert labels(label for (label,) in dataset.take(4)) == [[1, 2], [3, 4], [5, 1], [2, 3]]
    bare = datasets.DALIDataset(numbers(5, 2), output_dtypes=tf.int32)
    assert labels(bare.take(1)) == [[1, 2]]


def test_each_loop_is_the_next_epoch(datasets: Any, numbers: Numbers) -> None:
    dataset = datasets.Dataset(numbers(20, 5, random_shuffle=True))
    epochs = []
    for number in range(3):
        assert dataset.epoch == number
        assert dataset.steps_per_epoch == 4
        epochs.append(labels(dataset))
    assert all(sorted(np.ravel(epoch)) == list(range(1, 21)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]


def test_a_loop_of_several_epochs(datasets: Any, numbers: Numbers) -> None:
    dataset = datasets.Dataset(numbers(4, 2), epochs=3)
    assert labels(dataset) == [[1, 2], [3, 4]] * 3
    assert labels(datasets.Dataset(numbers(4, 2)).repeat(2)) == [[1, 2], [3, 4]] * 2


def test_a_loop_that_was_left_ends_its_epoch(datasets: Any, numbers: Numbers) -> None:
    dataset = datasets.Dataset(numbers(7, 2))
    assert labels(dataset.take(1)) == [[1, 2]]
    for label in dataset:
        assert np.ravel(label).tolist() == [2, 3]
        break
    assert labels(dataset) == [[1, 2], [3, 4], [5, 6], [7, 1]]
    endless = datasets.Dataset(numbers(8, 2), epochs=None)
    assert labels(endless.take(1)) == [[1, 2]]
    assert labels(endless.take(2)) == [[3, 4], [5, 6]]


def test_an_older_iterator_ends_with_an_error(tf: Any, datasets: Any, numbers: Numbers) -> None:
    dataset = datasets.Dataset(numbers(8, 2))
    old = iter(dataset)
    next(old)
    assert labels([next(iter(dataset))]) == [[1, 2]]
    with pytest.raises(tf.errors.OpError, match="another iterator over this dataset was begun"):
        next(old)


def test_a_pipeline_without_a_reader(datasets: Any) -> None:
    def define() -> Any:
        return fn.constant(idata=[3], shape=[1], dtype="int32")

    endless = datasets.Dataset(make(define), epochs=None)
    assert labels(endless.take(3)) == [[3]] * 3
    with pytest.raises(TypeError, match="number of steps is not known"):
        _ = endless.steps_per_epoch
    assert labels(datasets.Dataset(make(define), size=2)) == [[3]] * 2


def test_state_counts_what_was_drawn(datasets: Any, numbers: Numbers) -> None:
    dataset = datasets.Dataset(numbers(12, 2))
    loop = iter(dataset)
    next(loop)
    state = dataset.state_dict()
    assert labels(loop) == [[3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]
    again = datasets.Dataset(numbers(12, 2))
    again.load_state_dict(state)
    assert labels(again) == [[3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]


def test_in_a_function(tf: Any, datasets: Any, numbers: Numbers) -> None:
    @tf.function
    def total(dataset: Any) -> Any:
        result = tf.constant(0)
        for label in dataset:
            result += tf.reduce_sum(label)
        return result

    dataset = datasets.Dataset(numbers(10, 2))
    assert int(total(dataset)) == int(total(dataset)) == 55


def test_transformations(tf: Any, datasets: Any, pictures: Path) -> None:
    dataset = datasets.Dataset(training(pictures))
    changed = dataset.map(lambda x, y: (tf.cast(x, tf.float32) / 255, y[:, 0])).prefetch(2)
    judge = training(pictures)
    for _ in range(2):
        count = 0
        for (image, label), (expected, number) in zip(changed, judge, strict=True):
            assert np.allclose(image, expected.as_array() / np.float32(255))
            assert np.array_equal(label, number.as_array()[:, 0])
            count += 1
        assert count == 6
    small = datasets.Dataset(training(pictures)).unbatch().batch(3)
    assert [len(y) for _, y in small] == [3] * 8


def test_prefetched_tensors_are_not_copied(
    tf: Any, datasets: Any, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []
    run = Pipeline.run

    def recorded(self: Pipeline) -> Any:
        batches = run(self)
        given.append(batches[0].as_tensor().data_ptr)
        return batches

    monkeypatch.setattr(Pipeline, "run", recorded)
    seen: list[int] = []

    @tf.function
    def look(dataset: Any) -> Any:
        for image, _ in dataset:
            tf.numpy_function(lambda a: seen.append(a.ctypes.data), [image], [])

    kept = list(datasets.Dataset(training(pictures)).prefetch(2))
    assert [np.asarray(memoryview(x)).ctypes.data for x, _ in kept] == given
    given.clear()
    look(datasets.Dataset(training(pictures)).prefetch(1))
    assert len(seen) == 6
    assert seen == given


def test_datasets_come_and_go(tf: Any, datasets: Any, numbers: Numbers) -> None:
    """A dataset that nobody holds frees its pipeline."""
    import weakref

    pipe = numbers(4, 2)
    dead = weakref.ref(pipe)
    dataset = datasets.Dataset(pipe)
    assert labels(dataset) == [[1, 2], [3, 4]]
    del pipe, dataset
    gc.collect()
    assert dead() is None


def test_a_process_ends_while_batches_are_prefetched(pictures: Path) -> None:
    script = """
import sys
sys.path.insert(0, sys.argv[1])
from trainings import training
from stoker.tensorflow import Dataset

loops = [iter(Dataset(training(sys.argv[2]), epochs=None).prefetch(100000)) for _ in range(2)]
for loop in loops:
    next(loop)
print("end")
"""
    done = run_script(script, str(Path(__file__).resolve().parents[1]), str(pictures))
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_keras_fits(tf: Any, datasets: Any, pictures: Path) -> None:
    inputs = tf.keras.Input((16, 16, 3))
    flat = tf.keras.layers.Flatten()(tf.keras.layers.Rescaling(1 / 255)(inputs))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(4, kernel_initializer="zeros")(flat))
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    dataset = datasets.Dataset(training(pictures))
    losses = model.fit(dataset, epochs=6, verbose=0).history["loss"]
    assert dataset.epoch == 6
    assert losses[-1] < losses[0]
    endless = datasets.DALIDataset(training(pictures))
    model.fit(endless, epochs=2, steps_per_epoch=3, verbose=0)
    assert endless.epoch == 1
    assert np.isfinite(model.evaluate(datasets.Dataset(training(pictures)), verbose=0))
