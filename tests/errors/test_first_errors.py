# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Mistakes that everyone makes once in running a pipeline: what is said names the way out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import make, run_script, text_of
from stoker import Pipeline, errors, fn, pipeline_def
from stoker.frameworks.numpy import DALIGenericIterator


def test_the_name_of_an_input_that_is_not_there() -> None:
    pipe = make(lambda: fn.external_source(name="pictures"))
    with pytest.raises(KeyError, match=r"is named 'x'\. This pipeline has pictures\."):
        pipe.feed_input("x", [np.zeros(1)])


def test_the_end_of_an_epoch() -> None:
    pipe = make(lambda: fn.external_source(source=two_batches), batch_size=2)
    pipe.run()
    pipe.run()
    with pytest.raises(StopIteration, match=r"the epoch has ended: reset\(\) begins the next"):
        pipe.run()


def test_a_tensor_is_asked_of_a_batch() -> None:
    (batch,) = make(lambda: fn.constant(idata=[1])).run()
    with pytest.raises(AttributeError, match=r"a Batch has no 'to': as_array\(\) makes a NumPy"):
        batch.to("cpu")
    assert not hasattr(batch, "numpy")


def test_an_iterator_over_a_factory() -> None:
    @pipeline_def(batch_size=1)
    def training() -> Any:
        return fn.constant(idata=[1])

    with pytest.raises(errors.GraphTypeError, match=r"training is a function .*call it: training"):
        DALIGenericIterator(training, ["x"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^DALIGenericIterator\.__init__\(\) missing 1 required"):
        DALIGenericIterator(training())  # type: ignore[call-arg]


def test_no_gpu_says_what_to_do_and_recommends_no_tests() -> None:
    script = f"""
from stoker import Pipeline, errors, fn
pipe = Pipeline(batch_size=1, num_threads=1)
with pipe:
    encoded, _ = fn.readers.file(files=[{__file__!r}])
    pipe.set_outputs(fn.decoders.image(encoded, device="mixed"))
try:
    pipe.run()
except errors.DeviceError as e:
    print(e)
"""
    text = run_script(script, STOKER_SIMULATED_DEVICES="").stdout
    assert "Leave out device= and .gpu() to run on the CPU" in text
    assert "SIMULATED" not in text


def test_a_picture_without_a_decoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own, as HEIF's library is looked for once."""
    heif = tmp_path / "a.heic"
    heif.write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0" + bytes(64))
    program = (
        "from stoker import fn, pipeline_def\n"
        f"p = pipeline_def(lambda: fn.decoders.image(fn.readers.file(files=[{str(heif)!r}])[0]))\n"
        "p(batch_size=1).run()\n"
    )
    monkeypatch.setenv("STOKER_LIBHEIF", "")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "HEIF needs Debian's libheif1, which is not there" in done.stderr


def test_a_batch_without_a_good_sample(tmp_path: Path) -> None:
    files = []
    for i in range(4):
        (tmp_path / f"{i}.jpg").write_bytes(b"\xff\xd8\xff\xe0 no more")
        files.append(str(tmp_path / f"{i}.jpg"))

    def define() -> Any:
        return fn.decoders.image(fn.readers.file(files=files)[0])

    text = text_of(errors.SampleError, define, on_error="skip", batch_size=2)
    assert "With on_error='skip' a batch needs one good sample. The next run() goes on" in text
    assert "on_error='replace' keeps batches full" in text
    text = text_of(errors.SampleError, define, on_error="raise", batch_size=2)
    assert text.endswith("on_error='skip', a setting of the pipeline, leaves such samples out")


def test_many_bad_samples_take_few_lines(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"no picture")
    pipe = make(lambda: fn.decoders.image(fn.readers.file(files=[str(bad)] * 40)[0]), batch_size=40)
    with pytest.raises(errors.SampleError) as raised:
        pipe.run()
    assert "\n  and 34 more: .samples lists all\n" in str(raised.value)
    assert len(raised.value.samples) == 40


def test_the_loop_that_the_message_promises(pictures: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"\xff\xd8\xff\xe0 no more")
    good = [str(p) for p in sorted(pictures.glob("*/*.jpg"))[:2]]
    files = [str(bad), str(bad), *good]
    pipe = make(
        lambda: fn.decoders.image(fn.readers.file(files=files)[0]), on_error="skip", batch_size=2
    )
    with pytest.raises(errors.SampleError):
        pipe.run()
    (images,) = pipe.run()
    assert [images.source_info(i) for i in range(2)] == good


def two_batches() -> Iterator[Any]:
    for i in range(2):
        yield np.full((2, 3), i)


def test_a_generator_has_no_second_epoch() -> None:
    pipe = make(lambda: fn.external_source(source=two_batches()), batch_size=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(pipe)) == 2
    for number in (1, 2):  # each epoch without a batch is told
        said = f"no batch in epoch {number}, .*: a generator gives one epoch only"
        with pytest.warns(errors.EpochWarning, match=said) as told:
            assert list(pipe) == []
        assert [one.filename for one in told] == [__file__]


def test_a_generator_function_has_a_second_epoch() -> None:
    pipe = make(lambda: fn.external_source(source=two_batches), batch_size=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [len(list(pipe)), len(list(pipe))] == [2, 2]


def test_a_tuple_without_num_outputs() -> None:
    def pairs(info: Any) -> Any:
        return np.zeros((2, 4, 4)), np.zeros((2, 1))

    text = text_of(errors.SourceError, lambda: fn.external_source(source=pairs), batch_size=2)
    assert "a tuple of 2 outputs came, but num_outputs is not given; with num_outputs=2" in text
    text = text_of(
        errors.SourceError,
        lambda: fn.external_source(source=lambda i: (np.zeros(2), np.zeros(1)), batch=False),
    )
    assert "sample 0: TypeError: a tuple of 2 outputs came, but num_outputs is not given" in text
    # A tuple of samples of one kind is a batch, as it always was.
    (batch,) = make(
        lambda: fn.external_source(source=lambda i: (np.zeros(3), np.ones(3))), batch_size=2
    ).run()
    assert batch.shape() == [(3,), (3,)]


def killed_at_sample_6(info: Any) -> Any:
    if info.idx_in_epoch == 6:
        os.kill(os.getpid(), 9)
    return np.zeros(2)


def killed_in_iteration_1(iteration: int) -> Any:
    if iteration == 1:
        os.kill(os.getpid(), 9)
    return np.zeros((4, 2))


def failure_of(pipe: Pipeline) -> str:
    with pytest.raises(errors.SourceError) as raised:
        for _ in range(4):
            pipe.run()
    return str(raised.value)


def test_a_killed_worker_names_its_samples() -> None:
    settings = {"batch_size": 4, "py_num_workers": 1, "py_start_method": "fork"}
    text = failure_of(
        make(
            lambda: fn.external_source(source=killed_at_sample_6, batch=False, parallel=True),
            **settings,
        )
    )
    assert "was killed by signal 9 (SIGKILL) in samples 4 to 7 of epoch 0" in text
    text = failure_of(
        make(lambda: fn.external_source(source=killed_in_iteration_1, parallel=True), **settings)
    )
    assert "was killed by signal 9 (SIGKILL) in iteration 1 of epoch 0" in text


def test_stats_print_as_a_table(pictures: Path) -> None:
    pipe = make(lambda: fn.decoders.image(fn.readers.file(file_root=pictures)[0]), batch_size=4)
    pipe.run()
    stats = pipe.stats()
    text = str(stats)
    assert f"{stats['samples']} samples in 1 steps, 0 failures" in text
    assert "decoders_image_0" in text and "us a sample" in text
    assert isinstance(stats, dict) and dict(stats) == stats
    assert str(stats.copy()) == text and str(type(stats)()) == "nothing was counted"


def test_the_reader_names_its_classes(pictures: Path, tmp_path: Path) -> None:
    pipe = make(lambda: fn.readers.file(file_root=pictures, name="Reader")[1], batch_size=24)
    names = pipe.reader_meta("Reader")["class_names"]
    assert names == sorted(p.name for p in pictures.iterdir())
    (labels,) = pipe.run()
    for i in range(24):
        assert Path(labels.source_info(i)).parent.name == names[int(labels.at(i)[0])]
    listed = make(lambda: fn.readers.file(files=[str(tmp_path)], name="Reader")[1])
    assert "class_names" not in listed.reader_meta("Reader")


def test_a_reader_keeps_the_names_of_its_classes(
    pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(pictures, tmp_path / "copy")
    monkeypatch.chdir(tmp_path)
    pipe = make(lambda: fn.readers.file(file_root="copy", name="Reader")[1])
    pipe.build()
    names = pipe.reader_meta("Reader")["class_names"]
    (tmp_path / "copy" / "a folder behind the build").mkdir()
    assert pipe.reader_meta("Reader")["class_names"] == names
    monkeypatch.chdir("/")
    assert pipe.reader_meta()["Reader"]["class_names"] == names
    shutil.rmtree(tmp_path / "copy")
    assert pipe.epoch_size("Reader") == 24


def test_a_reader_that_nothing_uses_has_no_meta_data(pictures: Path) -> None:
    def define() -> Any:
        fn.readers.file(file_root="there/is/none", name="Idle")
        return fn.readers.file(file_root=pictures, name="Reader")[1]

    pipe = make(define)
    assert list(pipe.reader_meta()) == list(pipe.epoch_size()) == ["Reader"]


def test_a_folder_with_blanks_for_the_demo(repository: Path) -> None:
    made = subprocess.run(
        ["make", "-f", "Makefile", "-n", "-o", "build", "demo", "DATA=a b"],
        capture_output=True,
        text=True,
        cwd=repository,
        check=True,
    )
    assert 'examples/resnet50_demo.py "a b"' in made.stdout
