# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What users of other libraries write first: what is said names what it is called here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoker
from helpers import make, text_of
from stoker import Pipeline, errors, fn, pipeline_def, types
from stoker.frameworks.numpy import DALIGenericIterator, LastBatchPolicy


def picture() -> Any:
    return fn.constant(idata=[7], shape=[1, 1, 3], layout="HWC", dtype=types.UINT8)


@pytest.mark.parametrize(
    ("define", "text"),
    [
        (lambda: fn.flip(picture(), p=0.5), "coin_flip(probability=0.5) draws a flag"),
        (lambda: fn.normalize(picture(), std=2), "Did you mean 'stddev'?"),
        (lambda: fn.random_resized_crop(picture(), size=1, scale=1), "Did you mean 'random_area'?"),
        (lambda: fn.brightness(picture(), brightness=[0.8, 1.2]), "fn.random.uniform(range=[0.8"),
        (lambda: fn.crop(picture(), crop=[1, 1, 3]), "channels are all kept"),
        (lambda: fn.flip(picture(), on_error="skip"), "'on_error': it is a setting of the pipe"),
        (lambda: fn.flip(picture(), num_threads=2), "'num_threads': it is a setting of the pipe"),
    ],
)
def test_arguments(define: Callable[[], Any], text: str) -> None:
    assert text in text_of(errors.GraphError, define)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("FLOAT32", "Did you mean 'FLOAT'"),
        ("DOUBLE", "'FLOAT64'"),
        ("INTERP_AREA", "'INTERP_TRIANGULAR'"),
    ],
)
def test_constants(name: str, text: str) -> None:
    with pytest.raises(AttributeError, match=text):
        getattr(types, name)


def test_operators() -> None:
    with pytest.raises(AttributeError, match=r"Did you mean 'readers.file'"):
        _ = fn.readers.image_folder
    with pytest.raises(AttributeError, match=r"Stoker reads no video; fn.readers.sequence reads"):
        _ = fn.readers.video
    with pytest.raises(AttributeError, match=r"Did you mean 'crop'\? Chance is given to it"):
        _ = fn.random_crop


def test_settings() -> None:
    with pytest.raises(TypeError, match="Did you mean 'num_threads'"):
        pipeline_def(num_workers=2)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="Did you mean 'prefetch_queue_depth'"):
        Pipeline(prefetch_factor=2)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda x: x.cuda(), "Did you mean 'gpu'?"),
        (lambda x: x.astype("float32"), "has no 'astype': it holds no data .*; fn.cast"),
        (lambda x: x.transpose(2, 0, 1), r"fn.transpose\(...\) makes another node"),
        (lambda x: x.numpy(), "NumPy what run.. gives"),
        (lambda x: int(x), r"\(.*test_first_names.py:\d+\) has no value while"),
        (lambda x: float(x), "has no value while the pipeline is being defined"),
        (lambda x: [1, 2][x], "has no value while the pipeline is being defined"),
        (lambda x: x.__setitem__(0, 1), "cannot be written into"),
        (lambda x: x.shape[0], r"x.shape\(\) is a node with the extents of each sample"),
        (lambda x: x.shape[:2], r"test_first_names.py:\d+\) is not known while the pipeline"),
        (lambda x: (lambda h, w, c: h)(*x.shape), r"and x.shape\(\)\[0\] one with the first"),
        (lambda x: fn.resize(x, size=x.shape), r"x.shape\(\) is a node"),
        (lambda x: x in (1, 2), r"for `in` and max\(\) there are \(x == 1\) | \(x == 2\)"),
    ],
)
def test_nodes(use: Callable[[Any], Any], text: str) -> None:
    kinds = (errors.GraphError, AttributeError)
    with Pipeline(batch_size=1), pytest.raises(kinds, match=text):
        use(picture())


def test_an_index_is_one_number(pictures: Path) -> None:
    def masked() -> Any:
        x = fn.constant(fdata=[1, 9, 9], shape=[3])
        return x[x > 5]

    text = text_of(errors.Error, masked)
    assert "an index is one whole number for each sample, got 3 for 1; masks and lists" in text
    (batch,) = make(lambda: fn.constant(idata=[5, 6, 7])[fn.constant(idata=2)]).run()
    assert batch.at(0) == 7


def test_a_factory_that_was_not_called() -> None:
    @pipeline_def(batch_size=1)
    def training(root: str) -> Any:
        return fn.constant(idata=[1])

    with pytest.raises(errors.GraphTypeError, match=r"training is a function .*; call it: train"):
        training.run()  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"training\(\) takes 1 .* got 2; the settings of a pip"):
        training("x", 16)


def test_a_dict_is_returned() -> None:
    with pytest.raises(errors.GraphTypeError, match=r"returns a dict; return a tuple of nodes"):
        make(lambda: {"image": picture()})


def test_shards_of_a_pipeline_with_a_reader(pictures: Path) -> None:
    def whole() -> Any:
        return fn.readers.file(file_root=pictures, name="Reader")[1]

    with pytest.raises(errors.GraphError, match=r"num_shards=2 has no effect on a reader: give sh"):
        make(whole, shard_id=1, num_shards=2).build()
    with pytest.warns(UserWarning, match=r"with num_shards=2 but no shard_id every process reads"):
        make(lambda: fn.readers.file(file_root=pictures, num_shards=2)[1])
    make(lambda: fn.readers.file(file_root=pictures, num_shards=2, shard_id=1)[1]).run()


def test_iterators() -> None:
    pipe = make(lambda: fn.external_source(source=lambda: np.zeros((1, 2))))
    with pytest.raises(errors.GraphError, match=r"one of LastBatchPolicy.FILL, .*, got 'drop'"):
        DALIGenericIterator(pipe, ["x"], last_batch_policy="drop")  # type: ignore[arg-type]
    iterator = DALIGenericIterator(pipe, ["x"], last_batch_policy=LastBatchPolicy.DROP)
    with pytest.raises(TypeError, match=r"gives whole batches in order, so it needs no DataLoader"):
        iterator[0]
    assert repr(iterator) == "<DALIGenericIterator of x, batch_size 1>"


def test_states_of_others(pictures: Path) -> None:
    pipe = make(lambda: fn.readers.file(file_root=pictures, name="Reader")[1], batch_size=4)
    iterator = DALIGenericIterator(pipe, ["x"])
    with pytest.raises(errors.StateError, match=r"but that of a pipeline: give it to restore"):
        iterator.load_state_dict(pipe.state())
    with pytest.raises(errors.StateError, match=r"but that of an iterator: give it to load_state"):
        pipe.restore(iterator.state_dict())
    with pytest.raises(errors.StateError, match=r"but a dict with the keys 'model', 'epoch'"):
        pipe.restore({"model": 1, "epoch": 2})
    with pytest.raises(errors.StateError, match=r"but an empty dict"):
        pipe.restore({})
    other = make(lambda: fn.readers.file(file_root=pictures, name="R2")[1], batch_size=4)
    with pytest.raises(errors.StateError, match=r"knows no reader 'R2'; it has 'Reader'"):
        other.restore(pipe.state())
    longer = make(lambda: fn.readers.file(files=["x"], name="Reader")[1])
    there = DALIGenericIterator(longer, ["x"])
    with pytest.raises(errors.StateError, match="with force=True the state is taken all the same"):
        there.load_state_dict(iterator.state_dict())
    with pytest.warns(UserWarning):
        there.load_state_dict(iterator.state_dict(), force=True)


def test_the_name_of_a_saved_file(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(make(picture).serialize())
    with pytest.raises(errors.GraphError, match=r"given by name: deserialize\(filename=...\)"):
        Pipeline.deserialize(str(path))
    assert Pipeline.deserialize(filename=path).run()


@pytest.mark.parametrize(
    ("source", "settings", "text"),
    [
        (lambda: np.zeros((3, 2)), {}, "first axis of an array is the batch; if it is one sample"),
        (lambda: ["a.jpg"], {}, "numpy.fromfile(name, numpy.uint8) has the bytes of a file"),
        (lambda: [None], {}, "is a `return` missing?"),
        (lambda i: [[np.zeros(1)], [np.zeros(1)]][5], {}, "a source raises StopIteration"),
    ],
)
def test_sources(source: Any, settings: dict[str, Any], text: str) -> None:
    assert text in text_of(errors.Error, lambda: fn.external_source(source=source, **settings))


def test_one_sample_where_a_batch_is_expected() -> None:
    text = text_of(
        errors.Error,
        lambda: fn.external_source(source=lambda: np.zeros((1, 4, 3)), layout="HWC"),
    )
    assert "for an array that is one sample, set batch=False" in text


def test_a_dataset_as_a_source() -> None:
    class Dataset:
        def __getitem__(self, i: int) -> Any:
            return np.zeros(1)

    text = text_of(errors.GraphTypeError, lambda: fn.external_source(source=Dataset()))
    assert "source=lambda info: data[info.idx_in_epoch], batch=False, and raises Stop" in text


def test_a_function_that_writes_into_its_input() -> None:
    def write(x: Any) -> Any:
        x[0] = 1
        return x

    text = text_of(errors.SampleError, lambda: fn.python_function(picture(), function=write))
    assert "so it begins with x = x.copy()" in text


def test_normalising_by_numbers_for_values_up_to_1() -> None:
    def normalised(mean: Any, std: Any) -> Pipeline:
        return make(lambda: fn.crop_mirror_normalize(picture(), mean=mean, std=std))

    with pytest.warns(UserWarning, match=r"are below 1, .*: multiply both by 255"):
        normalised([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]).run()


@pytest.mark.parametrize("argument", ["size", "resize_x", "resize_y", "resize_longer"])
def test_a_share_as_a_size(argument: str) -> None:
    text = rf"'{argument}' is 0.5, which gives one pixel: sizes are pixels, not shares"
    with pytest.warns(UserWarning, match=text):
        make(lambda: fn.resize(picture(), **{argument: 0.5})).run()


def test_no_number_of_classes() -> None:
    with pytest.warns(UserWarning, match=r"without 'num_classes' there are no elements"):
        make(lambda: fn.one_hot(fn.constant(idata=[1]))).run()


def test_boxes_of_less_than_an_element() -> None:
    with pytest.warns(UserWarning, match=r"normalized=True takes it as a share"):
        make(lambda: fn.erase(picture(), anchor=[0.1, 0.1], shape=[0.2, 0.2])).run()


def test_the_first_sample_that_is_left_out(pictures: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"\xff\xd8\xff\xe0 no more")
    files = [str(p) for p in sorted(pictures.glob("*/*.jpg"))[:3]]
    files.insert(1, str(bad))
    pipe = make(
        lambda: fn.decoders.image(fn.readers.file(files=files)[0]), on_error="skip", batch_size=2
    )
    with pytest.warns(errors.SampleWarning, match=r"bad.jpg.*\n.*quarantine\(\) lists all") as told:
        for _ in range(6):
            pipe.run()
    assert len(told) == 1 and told[0].filename == __file__


def test_warnings_are_no_part_of_a_saved_graph() -> None:
    pipe = make(lambda: fn.erase(picture(), anchor=[0, 0], shape=[0.5, 0.5]))
    assert "warning" not in json.dumps(json.loads(pipe.serialize()))
    assert stoker.errors.SampleWarning.__mro__[1] is UserWarning


def test_a_pipeline_says_what_it_has_in_place_of_a_length_and_items() -> None:
    pipe = make(lambda: fn.external_source([[np.zeros(2)] * 2] * 3), batch_size=2)
    with pytest.raises(TypeError, match=r"has no length: pipe\.epoch_size\(reader_name\) .*DataI"):
        len(pipe)
    with pytest.raises(TypeError, match=r"no iterator: pipe\.run\(\) gives the next step, and it"):
        next(pipe)
    with pytest.raises(TypeError, match=r"no items: a loop over it .*pipe\.run\(\)\[0\]"):
        _ = pipe[0]
    assert pipe, "it is no empty container"
    assert len(list(pipe)) == 3 and len(next(iter(pipe))[0]) == 2


def test_a_pipeline_of_scripts_says_so_too() -> None:
    from stoker.compat._pipeline import Pipeline

    for pipe in (Pipeline(batch_size=1, num_threads=1), Pipeline()):
        with pytest.raises(TypeError, match="a Pipeline has no length"):
            len(pipe)
        with pytest.raises(TypeError, match="a Pipeline is no iterator"):
            next(pipe)
        assert bool(pipe)
