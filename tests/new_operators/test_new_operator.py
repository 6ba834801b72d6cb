# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""An operator or a picture format is added by adding a file. Nothing else in the tree is edited.

The files are in new_operators/ and new_codecs/, and cmake/new_operators.cmake builds a package with
them. In Python, the names of the operators begin with the name of their folder, so that no operator
of src/ops has one of them.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.xdist_group("new operator")  # one process builds it for all

BUILD = ROOT / "build/release"
PROGRAMS = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

# The operators of new_operators/wrong, with the conformance tests that must find each wrong. They
# are right only for an input that is dense, or just the window asked for.
WRONG_RUNS = {
    "wrong.solarize_any_origin": {"more", "shared"},
    "wrong.solarize_flat": {"more", "alone", "shared"},
    "wrong.solarize_dense_rows": {"alone", "shared"},
}

SCRIPT = """
import sys
import numpy as np
import inspect
from stoker import Pipeline, fn, types
assert "strength" in inspect.signature(fn.example.negative).parameters
assert "negative" in fn.example.negative.__doc__
pipe = Pipeline(batch_size=2, num_threads=1)
with pipe:
    image = fn.constant(idata=[0, 200], shape=[1, 2, 1], dtype=types.UINT8, layout="HWC")
    numbers = fn.cast(fn.random.uniform(range=[0, 3], shape=[9]), dtype=types.INT32)
    found = fn.example.nonzero(numbers)
    start = fn.slice(found, 0, 1, axes=[0])
    mirrored = fn.flip(fn.example.negative(image))
    pipe.set_outputs(mirrored, fn.example.negative(image, strength=0.0), numbers, found, start)
mirrored, same, numbers, found, start = pipe.run()
for i in range(2):
    expected = numbers.at(i).nonzero()[0]
    assert found.at(i).tolist() == expected.tolist(), (found.at(i), expected)
    assert start.at(i).tolist() == expected[:1].tolist(), (start.at(i), expected)
crops = []
for demand in (True, False):
    pipe = Pipeline(batch_size=2, num_threads=1, seed=3, demand=demand)
    with pipe:
        encoded, _ = fn.readers.file(files=[sys.argv[1]])
        first = fn.decoders.image(encoded)
        both = fn.example.mean(first, fn.flip(fn.decoders.image(encoded)), is_strict=demand)
        place = fn.random.uniform(range=[0, 1])
        pipe.set_outputs(fn.crop(both, crop=[20, 30], crop_pos_x=place))
    crops.append(pipe.run()[0].as_array())
assert crops[0].any() and np.array_equal(*crops)
print(mirrored.as_array().tolist(), same.as_array().tolist())
"""

# Outputs that follow from a list of names, or from a number.
OUTPUTS_SCRIPT = """
import inspect
import sys
import numpy as np
from stoker import DataNode, Pipeline, fn, ops
from stoker._describe import signatures
from stoker._describe.registry import operators
from stoker.errors import GraphError
folder = sys.argv[1]
files = []
for i in range(2):
    files.append(f"{folder}/{i}.txt")
    with open(files[-1], "w") as f:
        f.write(f"id={i}\\nimage/name=cat {i}\\nbytes=xyz")

def refused(text, define):
    try:
        with Pipeline(batch_size=1):
            define()
    except GraphError as e:
        assert text in str(e) and "<string>" in str(e), e
    else:
        raise AssertionError(text)

for executor in ("simple", "pipelined"):
    pipe = Pipeline(batch_size=2, executor=executor)
    with pipe:
        fields = fn.example.records(files=files, fields=["image/name", "id"], name="in")
        assert [n.name for n in fields] == ["in[0]", "in[1]"]
        assert pipe._definition.graph.output_names(0) == ["image/name", "id"]
        one = fn.example.records(files=files, fields="bytes")
        assert isinstance(one, DataNode)
        picture = fn.constant(idata=range(20), shape=[5, 2, 2], dtype="uint8", layout="HWC")
        bands = ops.example.Bands(count=3)(picture)
        bottom = fn.crop(bands[2], crop=[1, 2], crop_pos_y=1.0)
        each = fn.example.bands([picture, picture], count=2)
        assert [len(x) for x in each] == [2, 2]
        try:
            fn.cast(fields, dtype="int32")
        except GraphError as e:
            assert "unpack them: image_name, id = ..." in str(e), e
        pipe.set_outputs(*fields, one, *bands, bottom)
    again = Pipeline.deserialize(pipe.serialize(), batch_size=2)
    for names, ids, rest, *parts in (pipe.run(), again.run()):
        assert [bytes(names.at(i)) for i in range(2)] == [b"cat 0   ", b"cat 1   "]
        assert [bytes(ids.at(i)) for i in range(2)] == [b"0       ", b"1       "]
        assert bytes(rest.at(1)) == b"xyz     "
        whole = np.arange(20).reshape(5, 2, 2)
        for part, right in zip(parts, (whole[:1], whole[1:2], whole[2:], whole[4:])):
            assert np.array_equal(part.at(1), right), part.at(1)
picture = lambda: fn.constant(idata=[7], shape=[5, 2, 2], dtype="uint8", layout="HWC")
refused("argument 'count' asks for no outputs", lambda: fn.example.bands(picture(), count=0))
refused("asks for more than 1000 outputs", lambda: fn.example.bands(picture(), count=2**31 - 1))
refused("'count' expects int, got 'x'", lambda: fn.example.bands(picture(), count="x"))
refused("argument 'fields' asks for no", lambda: fn.example.records(files=files, fields=[]))
refused("'count' takes a constant", lambda: fn.example.bands(picture(), count=picture()))
assert inspect.signature(fn.example.bands).return_annotation == "Any"
assert "as often as count says" in fn.example.bands.__doc__
"""

# The format of new_codecs/formats/stripes_codec.cc: how it is named, found, read, and refused.
FORMAT_SCRIPT = """
import os
import sys
import warnings
import stoker
from stoker import Codec, fn, pipeline_def
from stoker._cli.check import check
from stoker._cli.files import files_of, pictures_of
from stoker.errors import SampleError
folder = sys.argv[1]
os.mkdir(f"{folder}/class")
stored = {"good.stripes": b"STRIPES2" + bytes([7, 9]), "cut.strp": b"STRIPES3" + bytes([7])}
stored |= {"named.jpg": b"STRIPES1" + bytes([5]), "text.strp": b"STRIPES0"}
stored |= {"other.dat": b"no picture"}
for name, data in stored.items():
    with open(f"{folder}/class/{name}", "wb") as file:
        file.write(data)

def decoded(**files):
    @pipeline_def(batch_size=1, num_threads=1)
    def pipeline():
        return fn.decoders.image(fn.readers.file(**files)[0])
    return pipeline().run()[0].at(0)[:, 0, 0].tolist()

assert Codec("Stripes", "picture", True, "") in stoker.codecs()
assert [os.path.basename(p) for p in pictures_of([folder])] == sorted(set(stored) - {"other.dat"})
found = {os.path.basename(v.file): v for v in check(files_of([folder]))}
assert {name: v.verdict for name, v in found.items()} == {
    "good.stripes": "odd", "cut.strp": "damaged", "named.jpg": "wrong extension",
    "text.strp": "not a picture", "other.dat": "other file"}, found
assert found["named.jpg"].why == "it is a Stripes image; such files end in .stripes, .strp"
assert "Stripes data ends prematurely" in found["cut.strp"].why
assert decoded(files=[f"{folder}/class/good.stripes"]) == [7, 9]
try:
    decoded(files=[f"{folder}/class/other.dat"])
except SampleError as e:
    assert "; expected AVIF, " in str(e) and "Stripes" in str(e).partition("; expected ")[2], e
else:
    raise AssertionError("text was decoded")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert decoded(file_root=folder) == [5]
(words,) = (str(w.message) for w in caught)
assert "leaves out 3 files (" in words and "cut.strp' and others), of formats that" in words, words
"""


# Finds the operators of its own src/ops as the build does.
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(operators NONE)
function(stoker_library)
endfunction()
add_library(stoker_op INTERFACE)
include({ROOT}/cmake/operators.cmake)
"""


@pytest.fixture(scope="module")
def package() -> Path:
    """The Python package that also has the operators of new_operators/."""
    with (ROOT / "build/release.lock").open("w") as lock:  # `make` takes the same lock
        fcntl.flock(lock, fcntl.LOCK_EX)
        build = ["cmake", "--build", BUILD, "--target", "new_operators"]
        subprocess.run(build, check=True, env=PROGRAMS)
    return BUILD / "new_operators"


def python(package: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_new_file_is_a_new_operator(package: Path, tmp_path: Path) -> None:
    run = python(package, "-c", SCRIPT, ROOT / "tests/golden/picture.jpg")
    assert run.returncode == 0, run.stderr
    assert (
        run.stdout.strip() == "[[[[55], [255]]], [[[55], [255]]]] [[[[0], [200]]], [[[0], [200]]]]"
    )
    run = python(package, ROOT / "tools/make_stubs.py", tmp_path)
    assert run.returncode == 0, run.stderr
    assert "def negative(" in (tmp_path / "fn/example.pyi").read_text()


def test_a_new_file_is_a_new_picture_format(package: Path, tmp_path: Path) -> None:
    run = python(package, "-c", FORMAT_SCRIPT, tmp_path)
    assert run.returncode == 0, run.stderr


def test_outputs_follow_from_constants(package: Path, tmp_path: Path) -> None:
    run = python(package, "-c", OUTPUTS_SCRIPT, tmp_path)
    assert run.returncode == 0, run.stderr
    run = python(package, ROOT / "tools/make_stubs.py", tmp_path)
    assert run.returncode == 0, run.stderr
    assert ") -> Any:" in (tmp_path / "fn/example.pyi").read_text()


def test_conformance_tells_a_wrong_loop(package: Path) -> None:
    """An operator that ignores the origin or the strides of its input fails, a right one passes."""
    suite = ROOT / "tests/conformance/test_windows.py"
    options = ("-q", "--tb=no", "-rA", "-p", "no:cacheprovider")
    right = [f"example.{name}" for name in ("solarize", "mean", "bands", "patches")]
    chosen = " or ".join(["wrong.solarize", *right])
    run = python(package, "-m", "pytest", suite, *options, "-k", chosen)
    found = re.findall(
        r"^(PASSED|FAILED) \S+::test_\w*?_?(only|more|rows)_\w+\[([\w.]+)-?(\w*)\]",
        run.stdout,
        re.MULTILINE,
    )
    failed: dict[str, set[str]] = {name: set() for _, _, name, _ in found}
    for outcome, test, name, share in found:
        if outcome == "FAILED":
            failed[name].add(share or test)
    assert failed == {**WRONG_RUNS, **{name: set() for name in right}}, run.stdout + run.stderr
    assert len(found) == 4 * len(failed), run.stdout


def test_a_gpu_half_is_told_from_a_wrong_one(package: Path) -> None:
    """The conformance tests find GPU halves by themselves and compare them with the CPU."""
    suite = ROOT / "tests/conformance/test_gpu.py"
    options = ("-q", "--tb=no", "-rA", "-p", "no:cacheprovider")
    right = ("posterize", "mingle", "bands", "patches")
    chosen = " or ".join(["wrong.posterize", *(f"example.{name}" for name in right)])
    run = python(package, "-m", "pytest", suite, *options, "-k", chosen)
    found = re.findall(r"^(PASSED|FAILED) \S+::(\w+)\[([\w.]+)\]", run.stdout, re.MULTILINE)
    assert len(found) == 6 * (1 + len(right)), run.stdout + run.stderr
    failed = {(test, name) for outcome, test, name in found if outcome == "FAILED"}
    assert failed == {("test_device_agrees_with_cpu_by_sample", "wrong.posterize")}, run.stdout


def test_two_files_for_one_operator_are_refused(tmp_path: Path) -> None:
    """The linker would take one of them without a word."""
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    folder = tmp_path / "src/ops/color"
    folder.mkdir(parents=True)
    configure = ["cmake", "-S", tmp_path, "-B", tmp_path / "build"]
    for name, is_refused in (("blur.cc", False), ("blur.cu", True)):
        (folder / name).touch()
        run = subprocess.run(configure, env=PROGRAMS, capture_output=True, text=True, check=False)
        assert (run.returncode != 0) == is_refused, run.stderr
    message = " ".join(run.stderr.split())
    assert f"{folder}/blur.cc and {folder}/blur.cu are one operator" in message, run.stderr
