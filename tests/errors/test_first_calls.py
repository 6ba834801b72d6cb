# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Mistakes that everyone makes once in defining a pipeline: the error names the way out."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers import make, text_of
from stoker import Pipeline, errors, fn, pipeline_def
from stoker._describe.other_names import OTHER_NAMES
from stoker._describe.registry import operators


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
    with Pipeline(batch_size=1):
        with pytest.raises(errors.GraphTypeError, match=r"external_source has several .* num_outp"):
            _, _ = fn.external_source(name="x")
        with pytest.raises(TypeError, match="has no length while the pipeline is being defined"):
            len(fn.constant(idata=[1, 2]))  # type: ignore[arg-type]


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
