# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Mistakes that everyone makes once with steps, labels and branches: what is said names the way
out.
"""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import tarfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import make, text_of
from stoker import Pipeline, errors, fn, pipeline_def, types
from stoker.frameworks.numpy import DALIGenericIterator, DataIterator


def two_outputs() -> Pipeline:
    return make(lambda: (fn.constant(idata=[1]), fn.constant(idata=[2])))


def pictures() -> Any:
    source = lambda: [np.zeros((40, 60, 3), np.uint8)]  # noqa: E731
    return fn.external_source(source=source, layout="HWC")


def test_a_step_that_is_a_dict_is_unpacked() -> None:
    steps = DataIterator(two_outputs(), ["image", "label"], size=3)
    with pytest.raises(
        errors.GraphTypeError, match=r"is a dict with .*, and step\['image'\] is the first"
    ):
        for _image, _label in steps:
            pass
    assert [list(step) for step in steps] == [["image", "label"]] * 3, "no step was lost"


def test_a_step_of_three_outputs_is_unpacked() -> None:
    pipe = make(lambda: tuple(fn.constant(idata=[i]) for i in range(3)))
    with pytest.raises(errors.GraphTypeError, match=r"the loop unpacks it into 3 names"):
        for _a, _b, _c in DataIterator(pipe, ["a", "b", "c"], size=1):
            pass


def test_a_step_that_is_a_list_is_unpacked() -> None:
    steps = DALIGenericIterator(two_outputs(), ["image", "label"], size=3)
    with pytest.raises(errors.GraphTypeError, match=r"one per pipeline, .*step\[0\]\['image'\]"):
        for _image, _label in steps:
            pass


def test_steps_of_two_pipelines_may_be_unpacked() -> None:
    steps = DALIGenericIterator([two_outputs(), two_outputs()], ["image", "label"], size=2)
    assert [(list(a), list(b)) for a, b in list(steps)] == [(["image", "label"],) * 2]
    steps.reset()
    for first, second in steps:
        assert first.keys() == second.keys()


def test_other_loops_are_left_alone() -> None:
    steps = DataIterator(two_outputs(), ["image", "label"], size=2)
    for step in steps:
        image, label = step.values()
        assert (image.item(), label.item()) == (1, 2)
    for number, step in enumerate(steps):
        assert number < 2 and set(step) == {"image", "label"}
    iterator = iter(steps)
    image, label = next(iterator)  # a dict's names, as anywhere in Python
    assert (image, label) == ("image", "label")


def test_a_pipeline_has_no_length_and_is_no_iterator() -> None:
    with pytest.raises(TypeError, match=r"no length: pipe\.epoch_size\(reader_name\) is"):
        len(two_outputs())
    with pytest.raises(TypeError, match=r"no iterator: pipe\.run\(\) gives the next step"):
        next(two_outputs())
    assert len(next(iter(two_outputs()))) == 2


@pytest.mark.parametrize("use", [lambda s: s[0], lambda s: [*s], len])
def test_the_shape_of_a_node(use: Callable[[Any], Any]) -> None:
    text = text_of(errors.GraphTypeError, lambda: use(pictures().shape))
    assert "x.shape()[0] one with the first of them" in text


def test_a_slice_in_the_order_of_numpy() -> None:
    text = text_of(errors.SampleError, lambda: fn.slice(pictures(), [10, 30], [20, 30]))
    assert "axis_names='HW' takes them so, the default is (x, y)" in text


def conditional(define: Callable[[], Any]) -> Pipeline:
    return pipeline_def(define, enable_conditionals=True)(batch_size=1, num_threads=1)


def test_branches_of_two_dtypes() -> None:
    def define() -> Any:
        image = fn.constant(idata=[7], shape=[4, 6, 3], dtype="uint8", layout="HWC")
        if fn.random.coin_flip():
            image = fn.cast(image, dtype=types.FLOAT)
        return image

    pipe = pipeline_def(define, enable_conditionals=True)(batch_size=64, num_threads=1)
    with pytest.raises(errors.SampleError, match=r"expect the same dtype.*fn\.cast gives one of"):
        pipe.run()


@pytest.mark.parametrize("kind", [ValueError, RuntimeError, KeyError])
def test_a_side_of_an_if_on_a_node_raises(kind: type[Exception]) -> None:
    def define() -> Any:
        image = pictures()
        if fn.random.coin_flip():
            raise kind("too dark")
        return image

    with pytest.raises(kind, match="too dark") as raised:
        conditional(define).build()
    said = "".join(getattr(raised.value, "__notes__", map(str, raised.value.args)))
    assert "runs both of its sides once, while the pipeline is defined" in said
    assert "fn.python_function calls it, can refuse one" in said


def labels(tmp_path: Path, label: bytes, dtype: Any = types.INT32) -> Any:
    archive = tmp_path / "labels.tar"
    with tarfile.open(archive, "w") as file:
        for name, content in (("0.jpg", b"picture"), ("0.cls", label)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    pipe = make(
        lambda: fn.readers.webdataset(
            paths=[str(archive)], ext=["jpg", "cls"], dtypes=[types.UINT8, dtype]
        )[1]
    )
    return pipe.run()[0].at(0)


@pytest.mark.parametrize(
    ("label", "dtype"),
    [
        (b"1024", types.INT32),
        (b"cat\n", types.INT32),
        (b"123 4567", types.INT64),
        (b"7\n", types.INT16),
    ],
)
def test_a_label_that_is_a_text_is_read_as_a_number(
    tmp_path: Path, label: bytes, dtype: Any
) -> None:
    with pytest.warns(errors.SampleWarning, match=r"is the text .* are taken for int") as told:
        labels(tmp_path, label, dtype)
    assert "a label that is a text is uint8, and fn.python_function makes" in str(told[0].message)


@pytest.mark.parametrize(
    ("label", "dtype"),
    [
        (struct.pack("<i", 7), types.INT32),
        (struct.pack("<i", ord("7")), types.INT32),
        (b"1024", types.UINT8),
        (b"it", types.INT16),
        (b"a\0b\0", types.INT32),
        (b"    ", types.INT32),
        (b"", types.INT32),
    ],
)
def test_other_labels_are_no_matter_of_doubt(tmp_path: Path, label: bytes, dtype: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert labels(tmp_path, label, dtype).nbytes == len(label)


def test_check_behind_the_script(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import sys\nprint(sys.argv[1:])\n")
    command = [sys.executable, "-m", "stoker", "run", str(script), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "['--check']\n"
    assert f"the script gets --check; to check it instead: --check {script}" in done.stderr
