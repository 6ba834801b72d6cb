# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Mistakes that everyone makes once in defining a pipeline: the error names the way out."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import make, text_of
from stoker import Pipeline, errors, fn, pipeline_def, types
from stoker._describe.other_names import OTHER_NAMES
from stoker._describe.registry import operators


def failure_of(define: Callable[[], Any]) -> errors.SampleError:
    with pytest.raises(errors.SampleError) as raised:
        make(define).run()
    return raised.value


def one_file(name: str) -> Any:
    return fn.readers.file(files=[name])[0]


def test_an_empty_list_of_files() -> None:
    text = text_of(errors.GraphError, lambda: fn.readers.file(files=[])[0])
    assert "argument 'files' is an empty list, so there is nothing to read" in text


def test_a_wrong_argument_lists_the_right_ones() -> None:
    text = text_of(errors.GraphError, lambda: fn.flip(one_file("x"), sideways=1))
    assert "no argument named 'sideways'. It takes depthwise, horizontal, vertical" in text
    near = text_of(errors.GraphError, lambda: fn.flip(one_file("x"), horisontal=1))
    assert near.endswith("no argument named 'horisontal'. Did you mean 'horizontal'?")


def test_a_wrong_argument_of_a_source() -> None:
    text = text_of(errors.GraphError, lambda: fn.external_source(data=[]))
    assert "no argument named 'data'. It takes " in text and "source" in text


def test_a_wrong_setting_lists_the_right_ones() -> None:
    with pytest.raises(TypeError, match=r"takes no argument 'cores'\. It takes .*num_threads"):
        pipeline_def(cores=3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"argument 'threads'\. Did you mean .*'num_threads'\?"):
        pipeline_def(threads=3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"no setting 'cores'\. It has .*num_threads"):
        Pipeline(cores=3)  # type: ignore[call-arg]


def test_a_wrong_operator() -> None:
    with pytest.raises(AttributeError, match=r"no operator 'fn.reader'. Did you mean 'readers'"):
        _ = fn.reader
    with pytest.raises(AttributeError, match=r"no operator 'fn.spin'. dir\(stoker.fn\) lists all"):
        _ = fn.spin
    with pytest.raises(AttributeError, match=r"no operator 'fn.random_crop'. Did you mean 'cr"):
        _ = fn.random_crop


def test_python_adds_no_guess_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from stoker import fn; fn.reader"], capture_output=True, text=True
    )
    assert done.stderr.endswith("there is no operator 'fn.reader'. Did you mean 'readers'?\n")


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_what_others_call_an_operator(name: str) -> None:
    wanted = OTHER_NAMES[name]
    assert wanted in operators(), wanted
    with pytest.raises(AttributeError, match=rf"Did you mean '{wanted}'"):
        getattr(fn, name)


def test_a_function_that_returns_nothing() -> None:
    def forgetful() -> None:
        one_file("x")

    line = forgetful.__code__.co_firstlineno
    with pytest.raises(errors.GraphError, match=rf"forgetful \(.*:{line}\) returns no outputs"):
        pipeline_def(batch_size=1)(forgetful)()


@pytest.mark.parametrize("use", [np.asarray, np.mean, np.transpose, lambda x: np.stack([x, x])])
def test_numpy_on_a_node(use: Callable[[Any], Any]) -> None:
    with Pipeline(batch_size=1), pytest.raises(errors.GraphTypeError, match="holds no data while"):
        use(fn.constant(idata=[1, 2]))


def test_a_node_has_no_parts() -> None:
    def unpacked() -> Any:
        _, _ = fn.external_source(name="x")  # type: ignore[misc]

    def looped_over() -> Any:
        return list(fn.constant(idata=[1, 2]) + 1)  # type: ignore[call-overload]

    def spread() -> Any:
        return fn.cat(*fn.constant(idata=[1, 2]))  # type: ignore[misc]

    for define in (unpacked, looped_over, spread):
        text = text_of(TypeError, define)
        assert "iterable" in text and "so it cannot be unpacked or looped over" in text
        assert text.count("external_source has several outputs with num_outputs=") == 1
    with Pipeline(batch_size=1):
        assert not isinstance(fn.constant(idata=[1, 2]), Iterable)
        with pytest.raises(TypeError, match="has no length while the pipeline is being defined"):
            len(fn.constant(idata=[1, 2]))


def test_other_errors_about_iterables_stay_as_they_are() -> None:
    assert text_of(TypeError, lambda: list(3)) == "'int' object is not iterable"  # type: ignore


@pytest.mark.parametrize(
    "window",
    [
        {"start": [30, 50], "shape": [10, 10]},
        {"start": [5, 30], "end": [40, 60]},
        {"rel_start": [0.25, 0.9], "shape": [5, 5]},
    ],
)
def test_a_window_as_y_and_x(window: dict[str, Any]) -> None:
    def define(**more: Any) -> Any:
        picture = fn.constant(idata=[7], shape=[40, 60, 1], layout="HWC")
        return fn.slice(picture, **window, **more)

    text = str(failure_of(lambda: define()))
    assert "; it would fit if the numbers are in the order (y, x): axis_names='HW' takes" in text
    make(lambda: define(axis_names="HW")).run()


@pytest.mark.parametrize(
    "window",
    [
        {"start": [30, 70], "shape": [10, 10]},
        {"rel_start": [0.5, 0.5], "rel_shape": [0.25, 0.75]},
        {"rel_start": [0.9, 0.9], "shape": [5, 5]},
    ],
)
def test_a_window_that_fits_in_no_order_has_no_hint(window: dict[str, Any]) -> None:
    def define() -> Any:
        picture = fn.constant(idata=[7], shape=[40, 60, 1], layout="HWC")
        return fn.slice(picture, **window)

    text = str(failure_of(define))
    assert "reaches outside" in text and "axis_names" not in text


def test_sides_of_two_types() -> None:
    def of(side: Callable[[Any], Any]) -> str:
        def define() -> Any:
            x = fn.constant(idata=[7], shape=[4, 6, 1], layout="HWC")
            if fn.external_source(lambda: [np.int32(1), np.int32(0)]):
                x = side(x)
            return x

        text = text_of(errors.SampleError, define, batch_size=2, enable_conditionals=True)
        assert "where 'external_source_0' is true" in text
        return text

    assert "; fn.cast gives one of them the other's dtype, and" in of(lambda x: x * 1.5)
    assert "; fn.reshape or fn.expand_dims gives them as many axes, and" in of(lambda x: x[0])
    text = of(lambda x: fn.reshape(x, layout="ABC"))
    assert "; fn.reshape(x, layout=...) gives them one layout, and a condition that is" in text


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes before")
def test_a_side_that_raises() -> None:
    @pipeline_def(batch_size=1, num_threads=1, enable_conditionals=True)
    def define(kind: type[Exception], on_a_node: bool) -> Any:
        x = fn.random.coin_flip() if on_a_node else True
        if x:
            raise kind("too dark")
        return fn.copy(1)

    for kind in (ValueError, KeyError, RuntimeError):
        with pytest.raises(kind, match="too dark") as raised:
            define(kind, True)
        (note,) = raised.value.__notes__
        assert "runs both of its sides once" in note and "fn.python_function" in note
        with pytest.raises(kind) as raised:
            define(kind, False)
        assert not hasattr(raised.value, "__notes__")


def test_texts_where_numbers_are_expected(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("a.jpg cat\n")
    (tmp_path / "list.csv").write_text("name,label\na.jpg,cat\n")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        member = tarfile.TarInfo("a.label")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"cat"))
    text = text_of(
        errors.GraphError,
        lambda: fn.readers.file(file_root=str(tmp_path), file_list=str(tmp_path / "list.txt"))[0],
    )
    assert "is not a whole number of 32 bits; fn.readers.csv reads texts" in text
    csv = {"path": str(tmp_path / "list.csv"), "columns": ["label"], "dtypes": ["int32"]}
    text = str(failure_of(lambda: fn.readers.csv(**csv)))
    assert "has 'cat' in column 'label', expected int32; the dtype uint8 gives texts" in text
    archived = {"paths": [str(tmp_path / "a.tar")], "ext": ["label"], "dtypes": [types.INT32]}
    text = str(failure_of(lambda: fn.readers.webdataset(**archived)))
    assert "no whole number of int32; a dtype says what its raw bytes are" in text


def test_settings_as_positional_arguments() -> None:
    text = text_of(errors.GraphError, lambda: fn.resize(fn.constant(idata=[1]), 224))
    assert "takes 1 input, got 2; arguments are given by name, as in resize(..., name=v" in text


def test_a_picture_without_channels() -> None:
    def define() -> Any:
        return fn.crop_mirror_normalize(fn.constant(idata=[1, 2], shape=[1, 2]))

    text = text_of(errors.GraphError, define)
    assert "got int32 (1, 2). Are channels missing? fn.expand_dims(x, axes=2, new_axis_n" in text


def test_an_element_type_that_does_not_fit() -> None:
    def define() -> Any:
        return fn.equalize(fn.constant(fdata=[1.0, 2.0], shape=[1, 2, 1], layout="HWC"))

    assert text_of(errors.GraphError, define).endswith(". fn.cast converts it")


def test_a_size_that_is_given_twice() -> None:
    def define() -> Any:
        return fn.resize(fn.constant(idata=[1], shape=[1, 1, 1]), size=[4, 4], resize_x=3)

    text = text_of(errors.GraphError, define)
    assert (
        "the size is given more than once: 'size', 'resize_x'; it is size, or resize_x/y/" in text
    )


def test_a_python_type_as_dtype() -> None:
    text = text_of(errors.GraphError, lambda: fn.cast(fn.constant(idata=[1]), dtype=float))
    assert text.endswith(
        "argument 'dtype' expects a dtype such as types.FLOAT or 'float32', got <class 'float'>"
    )


def test_our_own_exceptions_do_not_stand_before_a_message() -> None:
    with pytest.raises(errors.GraphError) as raised:
        make(lambda: fn.decoders.image("a.jpg"))
    assert raised.value.__suppress_context__ and raised.value.__cause__ is None


def test_arrays_where_a_node_is_expected() -> None:
    arrays = [np.zeros((4, 4, 3), np.uint8)] * 4
    text = text_of(errors.GraphError, lambda: fn.flip(arrays))
    assert "input 0 is a list of 4 arrays, not a node; fn.external_source(source=...) makes" in text


def test_a_name_where_a_node_is_expected() -> None:
    text = text_of(errors.GraphError, lambda: fn.decoders.image("a.jpg"))
    assert "is of type str, not a node; fn.readers.file(files=[...]) reads files" in text
    text = text_of(errors.GraphError, lambda: fn.decoders.image(b"\xff\xd8"))
    assert "is of type bytes, not a node; fn.external_source(source=...) makes a node" in text
