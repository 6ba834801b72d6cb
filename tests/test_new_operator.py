# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Adding an operator is adding a file: nothing else in the tree is edited."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.xdist_group("new operator")  # so that the copy is built once

NEGATIVE = """
// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns an image into its negative.
#include "op/op.h"

namespace stoker::ops::augment {

struct Negative {
  float strength = 1;

  static constexpr auto schema = describe(
      "negative", "Turns an image into its negative.",
      ports({.name = "input", .help = "Image.", .layouts = "HWC"}),
      ports({.name = "output", .help = "The negative."}),
      arg(&Negative::strength, "strength", "0 keeps the image, 1 is the negative.", between(0, 1),
          kPerSample));

  void check(Checker& c) const { c.out(c.in()); }
  void lower(Lowering& l) const {
    l.add(Pointwise{{}, {1 - 2 * strength}, {255 * strength}}, l.type().dtype);
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0], [200]]]"}, {"uint8 [[[255], [55]]]"}}};
  }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::Negative)
"""

# Its output's shape depends on the values, so it has no `infer`.
NONZERO = """
// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a vector is not zero.
#include "op/op.h"

namespace stoker::ops::augment {

struct Nonzero {
  static constexpr auto schema = describe(
      "nonzero", "Where a vector is not zero.",
      ports({.name = "input", .help = "Vector.", .dtypes = "int32"}),
      ports({.name = "output", .help = "The indices."}));

  void check(Checker& c) const { c.out({DType::kInt32, "", {-1}}); }
  void run_cpu(Run& r) const {
    const int32_t* in = r.inputs[0].as<int32_t>();
    std::vector<int32_t> found;
    for (int64_t i = 0; i < r.inputs[0].shape[0]; ++i)
      if (in[i]) found.push_back(static_cast<int32_t>(i));
    const View& out = r.make(0, {DType::kInt32, "", {static_cast<int64_t>(found.size())}});
    std::copy(found.begin(), found.end(), out.as<int32_t>());
  }
  static std::vector<Case> cases() { return {{"", {"int32 [0, 7, 0, 9]"}, {"int32 [1, 3]"}}}; }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::Nonzero)
"""

# Its output needs just the same window of both inputs, so it has a `demand`.
MEAN = """
// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The mean of two pictures.
#include "op/op.h"

namespace stoker::ops::augment {

struct Mean {
  bool is_strict = false;

  static constexpr auto schema = describe(
      "mean", "The mean of two pictures.",
      ports({.name = "first", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"},
            {.name = "second", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"}),
      ports({.name = "output", .help = "The mean."}),
      arg(&Mean::is_strict, "is_strict", "Whether to refuse more than the window that is needed."));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const {
    if (!(i.inputs[0] == i.inputs[1])) throw SampleError("the pictures differ in shape");
    i.out(i.inputs[0]);
  }
  void demand(Demand& d) const { d.needed[0] = d.needed[1] = d.wanted[0]; }
  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    for (const View& in : r.inputs)
      if (is_strict && !(in.shape == out.shape)) throw SampleError("got more than was needed");
    for (int64_t y = 0; y < out.shape[0]; ++y)
      for (int64_t x = 0; x < out.shape[1]; ++x)
        for (int64_t c = 0; c < out.shape[2]; ++c)
          *at(out, out, y, x, c) = static_cast<uint8_t>(
              (*at(r.inputs[0], out, y, x, c) + *at(r.inputs[1], out, y, x, c)) / 2);
  }
  // Where a view holds element (y, x, c) of the window `of`.
  static uint8_t* at(const View& v, const View& of, int64_t y, int64_t x, int64_t c) {
    const int64_t place[] = {y, x, c};
    auto* p = static_cast<uint8_t*>(v.data);
    for (int a = 0; a < 3; ++a) p += (of.origin[a] + place[a] - v.origin[a]) * v.strides[a];
    return p;
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0], [9]]]", "uint8 HWC [[[4], [7]]]"}, {"uint8 [[[2], [8]]]"}}};
  }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::Mean)
"""

# What no block does, as it is not linear.
SOLARIZE = """
// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Inverts the bright part of a picture.
#include "op/op.h"
#include "op/loops/runs.h"

namespace stoker::ops::augment {

struct Solarize {
  static constexpr auto schema = describe(
      "solarize", "Inverts the bright part of a picture.",
      ports({.name = "input", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"}),
      ports({.name = "output", .help = "The same, inverted from 128 on."}));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }
  void run_cpu(Run& r) const { for_each_run<uint8_t>(r.inputs[0], r.outputs[0], invert); }
  static void invert(const uint8_t* in, uint8_t* out, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = in[i] < 128 ? in[i] : 255 - in[i];
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0, 127, 128, 255]]]"}, {"uint8 [[[0, 127, 127, 0]]]"}}};
  }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::Solarize)
"""

# The same with a GPU half, which calls the very function.
POSTERIZE = """
// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Leaves few levels.
#include "op/loops/gpu_each.cuh"
#include "op/op.h"
#include "op/loops/runs.h"

namespace stoker::ops::augment {

struct Posterize {
  struct FewLevels {
    int bits;
    STOKER_HD void operator()(const uint8_t* in, uint8_t* out, int64_t count) const {
      for (int64_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(in[i] >> bits << bits);
    }
  };

  int bits = 4;
  static constexpr auto schema = describe(
      "posterize", "Leaves few levels.",
      ports({.name = "input", .help = "Picture.", .layouts = "HWC, HW", .dtypes = "uint8"}),
      ports({.name = "output", .help = "The same with zeros at its end."}),
      arg(&Posterize::bits, "bits", "How many bits become 0.", between(0, 8), kPerSample));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }
  void run_cpu(Run& r) const {
    for_each_run<uint8_t>(r.inputs[0], r.outputs[0], FewLevels{bits});
  }
  static void run_gpu(GpuRun& r, std::span<const Posterize* const> items) {
    for_each_run<uint8_t>(r, [&](size_t i) { return FewLevels{items[i]->bits}; });
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0, 17, 128, 255]]]"}, {"uint8 [[[0, 16, 128, 240]]]"}},
            {"bits=7", {"uint8 HW [[0, 127, 128, 255]]"}, {"uint8 [[0, 0, 128, 128]]"}}};
  }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::Posterize)
"""
RIGHT_HALF = "return FewLevels{items[i]->bits};"
WRONG_HALF = "return FewLevels{i > 0 ? items[i - 1]->bits : items[i]->bits};"  # the sample before

# Two inputs, two outputs, and a value a frame.
MINGLE = """
// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Mixes a picture with a row of numbers.
#include "op/loops/gpu_each.cuh"
#include "op/op.h"

namespace stoker::ops::augment {

struct Mingle {
  struct Work {
    const std::byte *first, *second;
    Shape strides, shape, origin, full;  // of the first; of the window
    int64_t step, count;  // of the second
    int share;
    uint8_t* mixed;
    int32_t* used;
    int64_t pieces;

    Work(std::span<const View> in, std::span<const View> out, int share)
        : first(in[0].as<std::byte>()), second(in[1].as<std::byte>()), strides(in[0].strides),
          shape(out[0].shape), origin(out[0].origin), full(out[0].full), step(in[1].strides[0]),
          count(in[1].shape[0]), share(share), mixed(out[0].as<uint8_t>()),
          used(out[1].as<int32_t>()), pieces(shape.volume() + 1) {
      for (int a = 0; a < shape.rank; ++a) first += (origin[a] - in[0].origin[a]) * strides[a];
    }
    STOKER_HD void run(int64_t k) const {
      if (k + 1 == pieces) return void(*used = share);
      const std::byte* from = first;
      int64_t rest = k, number = 0, weight = 1;
      for (int a = shape.rank - 1; a >= 0; --a) {
        from += rest % shape[a] * strides[a];
        number += (origin[a] + rest % shape[a]) * weight;
        rest /= shape[a], weight *= full[a];
      }
      mixed[k] = static_cast<uint8_t>((static_cast<int>(*from) * share +
          static_cast<int>(second[number % count * step]) * (16 - share)) / 16);
    }
  };

  float share = 0.5f;
  static constexpr auto schema = describe(
      "mingle", "Mixes a picture with a row of numbers.",
      ports({.name = "first", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"},
            {.name = "second", .help = "Numbers.", .dtypes = "uint8"}),
      ports({.name = "mixed", .help = "The picture."}, {.name = "used", .help = "Sixteenths."}),
      arg(&Mingle::share, "share", "Of the picture.", between(0, 1), kPerFrame));

  int sixteenths() const { return static_cast<int>(share * 16); }
  void check(Checker& c) const { c.out(c.in()), c.out({DType::kInt32, "", {}}); }
  void infer(Inference& i) const { i.out(i.inputs[0]), i.out({DType::kInt32, "", {}}); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }
  void run_cpu(Run& r) const {
    const Work work(r.inputs, r.outputs, sixteenths());
    for (int64_t k = 0; k < work.pieces; ++k) work.run(k);
  }
  static void run_gpu(GpuRun& r, std::span<const Mingle* const> items) {
    std::vector<Work> work;
    for (size_t i = 0; i < items.size(); ++i)
      work.emplace_back(r.items[i].inputs, r.items[i].outputs, items[i]->sixteenths());
    run_each(r, std::span<const Work>(work));
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0], [8]]]", "uint8 [4, 2]"}, {"uint8 [[[2], [5]]]", "int32 8"}},
            {"share=1.0", {"uint8 HWC [[[7]]]", "uint8 [4, 2]"}, {"uint8 [[[7]]]", "int32 16"}}};
  }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::Mingle)
"""
RIGHT_RUN = "for_each_run<uint8_t>(r.inputs[0], r.outputs[0], invert);"

# Bodies of its run_cpu that are right only on an input that is dense, or just the window asked for,
# and the conformance tests that must tell.
WRONG_RUNS = {
    "SolarizeAnyOrigin": (
        "View in = r.inputs[0]; in.origin = r.outputs[0].origin;"
        "for_each_run<uint8_t>(in, r.outputs[0], invert);",
        {"more", "shared"},
    ),
    "SolarizeFlat": (
        "const View& out = r.outputs[0];"
        "invert(r.inputs[0].as<uint8_t>(), out.as<uint8_t>(), out.shape.volume());",
        {"more", "alone", "shared"},
    ),
    "SolarizeDenseRows": (
        "View in = r.inputs[0]; in.strides = View::dense_strides(in.shape, 1);"
        "for_each_run<uint8_t>(in, r.outputs[0], invert);",
        {"alone", "shared"},
    ),
}

SCRIPT = """
import sys
import numpy as np
import inspect
from stoker import Pipeline, fn, types
assert "strength" in inspect.signature(fn.negative).parameters
assert "negative" in fn.negative.__doc__
pipe = Pipeline(batch_size=2, num_threads=1)
with pipe:
    image = fn.constant(idata=[0, 200], shape=[1, 2, 1], dtype=types.UINT8, layout="HWC")
    numbers = fn.cast(fn.random.uniform(range=[0, 3], shape=[9]), dtype=types.INT32)
    found = fn.nonzero(numbers)
    start = fn.slice(found, 0, 1, axes=[0])
    mirrored = fn.flip(fn.negative(image))
    pipe.set_outputs(mirrored, fn.negative(image, strength=0.0), numbers, found, start)
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
        both = fn.mean(first, fn.flip(fn.decoders.image(encoded)), is_strict=demand)
        place = fn.random.uniform(range=[0, 1])
        pipe.set_outputs(fn.crop(both, crop=[20, 30], crop_pos_x=place))
    crops.append(pipe.run()[0].as_array())
assert crops[0].any() and np.array_equal(*crops)
print(mirrored.as_array().tolist(), same.as_array().tolist())
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python package of a copy of the tree that has more operators."""
    tree = tmp_path_factory.mktemp("new") / "tree"
    build = (
        tree / "build/release"
    )  # as far from src/ as here: the compiler cache sees relative paths
    for folder in ("src", "bindings", "python", "cmake", "tools"):
        shutil.copytree(ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("CMakeLists.txt", "pyproject.toml"):
        shutil.copy(ROOT / file, tree)
    right = (NEGATIVE, NONZERO, MEAN, SOLARIZE, POSTERIZE, MINGLE)
    for text in (*right, *wrong_operators(), wrong_half()):
        stem = re.search(r'describe\(\s*"(\w+)"', text)
        assert stem
        suffix = "cu" if "run_gpu" in text else "cc"
        (tree / f"src/ops/augment/{stem[1]}.{suffix}").write_text(text.lstrip())

    cache = ROOT / "build/release/CMakeCache.txt"
    werror = "ON" if "STOKER_WERROR:BOOL=ON" in cache.read_text() else "OFF"
    programs = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    options = [
        f"-DPython_EXECUTABLE={sys.executable}",
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DSTOKER_WERROR={werror}",
    ]
    subprocess.run(
        ["cmake", "-S", tree, "-B", build, "-G", "Ninja", *options], check=True, env=programs
    )
    subprocess.run(
        ["cmake", "--build", build, "--target", "stoker_stage"], check=True, env=programs
    )
    return build / "python"


def wrong_operators() -> list[str]:
    """SOLARIZE with each of WRONG_RUNS."""
    assert RIGHT_RUN in SOLARIZE
    return [
        SOLARIZE.replace(RIGHT_RUN, body)
        .replace("Solarize", name)
        .replace('"solarize"', f'"{snake(name)}"')
        for name, (body, _) in WRONG_RUNS.items()
    ]


def wrong_half() -> str:
    """POSTERIZE with WRONG_HALF."""
    assert RIGHT_HALF in POSTERIZE
    text = POSTERIZE.replace(RIGHT_HALF, WRONG_HALF)
    return text.replace("Posterize", "PosterizeWrong").replace('"posterize"', '"posterize_wrong"')


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def python(package: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs Python with that package instead of this tree's."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_new_file_is_a_new_operator(package: Path) -> None:
    run = python(package, "-c", SCRIPT, ROOT / "tests/golden/picture.jpg")
    assert run.returncode == 0, run.stderr
    assert (
        run.stdout.strip() == "[[[[55], [255]]], [[[55], [255]]]] [[[[0], [200]]], [[[0], [200]]]]"
    )


def test_conformance_tells_a_wrong_loop(package: Path) -> None:
    """An operator that overlooks origin or strides of its input fails, a right one does not."""
    suite = ROOT / "tests/conformance/test_windows.py"
    options = ("-q", "--tb=no", "-rA", "-p", "no:cacheprovider")
    run = python(package, "-m", "pytest", suite, *options, "-k", "solarize or mean")
    found = re.findall(
        r"^(PASSED|FAILED) \S+::test_\w*?_?(only|more|rows)_\w+\[(\w+)-?(\w*)\]",
        run.stdout,
        re.MULTILINE,
    )
    failed: dict[str, set[str]] = {name: set() for _, _, name, _ in found}
    for outcome, test, name, share in found:
        if outcome == "FAILED":
            failed[name].add(share or test)
    expected = {snake(name): tests for name, (_, tests) in WRONG_RUNS.items()}
    assert failed == {**expected, "solarize": set(), "mean": set()}, run.stdout + run.stderr
    assert len(found) == 4 * len(failed), run.stdout


def test_a_gpu_half_is_told_from_a_wrong_one(package: Path) -> None:
    """Conformance finds the halves by itself and compares them with the CPU."""
    suite = ROOT / "tests/conformance/test_gpu.py"
    options = ("-q", "--tb=no", "-rA", "-p", "no:cacheprovider")
    run = python(package, "-m", "pytest", suite, *options, "-k", "posterize or mingle")
    found = re.findall(r"^(PASSED|FAILED) \S+::(\w+)\[(\w+)\]", run.stdout, re.MULTILINE)
    assert len(found) == 6 * 3, run.stdout + run.stderr
    failed = {(test, name) for outcome, test, name in found if outcome == "FAILED"}
    assert failed == {("test_device_agrees_with_cpu_by_sample", "posterize_wrong")}, run.stdout
