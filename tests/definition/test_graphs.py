# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""In examples/graphs, old spellings and functions give the same bytes."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import picture_stores
import pytest
from PIL import Image

from helpers import assert_same, max_difference, run_script, samples_of, take
from stoker import Pipeline, fn, ops, types

GRAPHS = Path(__file__).resolve().parents[2] / "examples" / "graphs"
SMALL = 28  # an eighth of the usual size
# For each graph, the class with old spellings and the function.
PAIRS = {
    "quick_start": [("SimplePipeline", "as_function")],
    "resnet50_first_release": [("HybridPipe", "as_function")],
    "resnet50_recordio": [
        ("CropAfterPipe", "crop_after"),
        ("CropInDecoderPipe", "crop_in_decoder"),
    ],
    "segmentation": [("SegmentationPipe", "as_function")],
    "ssd": [("SSDPipe", "as_function")],
    "validation": [("ValidationPipe", "as_function")],
}
# What graphs read that do not read files.
STORES = {"resnet50_first_release": "caffe2", "resnet50_recordio": "recordio"}
ALL = [(graph, *pair) for graph, pairs in PAIRS.items() for pair in pairs]
SETTINGS: dict[str, Any] = {"batch_size": 4, "num_threads": 2, "seed": 5}


def _forget_graphs() -> None:
    """Other examples have modules of the same names."""
    for name in [*PAIRS, "show"]:
        sys.modules.pop(name, None)


@pytest.fixture(autouse=True)
def _graphs_are_found(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(GRAPHS)
    _forget_graphs()
    yield
    _forget_graphs()


@pytest.fixture(scope="module")
def folder(pictures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures in class folders, the same files in images/ and in masks/, and their boxes."""
    root = tmp_path_factory.mktemp("graphs") / "data"
    root.mkdir()
    for name in ("images", "masks"):
        (root / name).symlink_to(pictures)
    (root / "instances.json").write_text(json.dumps(annotations(pictures)))
    return root


def annotations(pictures: Path) -> dict[str, Any]:
    """One or two boxes in each picture, of as many classes, in COCO's format."""
    images, things = [], []
    for i, path in enumerate(sorted(pictures.glob("*/*.jpg"))):
        with Image.open(path) as picture:
            width, height = picture.size
        name = str(path.relative_to(pictures))
        images.append({"id": i, "file_name": name, "width": width, "height": height})
        for k in range(1 + i % 2):
            box = [width / (4 + k), height / 4, width / 3, height / (2 + k)]
            thing = {"id": 2 * i + k, "image_id": i, "category_id": k, "bbox": box, "iscrowd": 0}
            things.append({**thing, "area": box[2] * box[3]})
    categories = [{"id": k, "name": str(k)} for k in range(2)]
    return {"images": images, "annotations": things, "categories": categories}


def place_of(graph: str, folder: Path) -> str:
    if graph in STORES:
        return str(picture_stores.converted(STORES[graph], folder / "images", folder / "stores"))
    return str(folder if graph in ("segmentation", "ssd") else folder / "images")


def made(graph: str, name: str, folder: Path, device: str = "cpu") -> Pipeline:
    factory = getattr(importlib.import_module(graph), name)
    pipe = factory(place_of(graph, folder), device, SMALL, **SETTINGS)
    assert isinstance(pipe, Pipeline)
    return pipe


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("graph", "old", "new"), ALL)
def test_both_styles_give_the_same_bytes(graph: str, old: str, new: str, folder: Path) -> None:
    got = take(made(graph, old, folder), 30)
    assert_same(got, take(made(graph, new, folder), 30), graph)
    if graph not in ("validation", "quick_start"):
        assert not np.array_equal(got[0][0], got[24][0]), "drawn anew in each epoch"


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize(("graph", "old", "new"), ALL)
def test_old_spellings_warn(graph: str, old: str, new: str, folder: Path) -> None:
    with pytest.warns(DeprecationWarning, match=r"is now spelled|has no effect") as caught:
        made(graph, old, folder).build()
    assert {Path(w.filename).stem for w in caught} == {graph}
    with pytest.warns(DeprecationWarning) as caught:
        made(graph, new, folder).build()
        ops.FileReader(files=["a"])()  # the only one that warns
    assert len(caught) == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pictures_and_masks_are_cut_alike(folder: Path) -> None:
    """The masks are the pictures, so a draw that differed would show."""
    samples = take(made("segmentation", "SegmentationPipe", folder), 24)
    assert_same([(image,) for image, _ in samples], [(mask,) for _, mask in samples], "masks")
    assert samples[0][0].shape == (SMALL, SMALL, 3)


def test_boxes_follow_their_pictures(folder: Path) -> None:
    """What is flipped and pasted alike stays inside, and each box keeps its label."""
    extents = []
    for image, boxes, labels in take(made("ssd", "as_function", folder), 24):
        there = boxes[:, 0] >= 0
        assert image.shape == (3, SMALL, SMALL) and len(boxes) == len(labels)
        assert there.any() and np.array_equal(there, labels.ravel() >= 0)
        assert (boxes[there, :2] < boxes[there, 2:]).all() and (boxes[there] <= 1).all()
        extents += (boxes[there, 2] - boxes[there, 0]).tolist()
    assert np.ptp(extents) > 0.1


@pytest.mark.parametrize(("graph", "old", "new"), ALL)
def test_on_the_simulated_gpu(graph: str, old: str, new: str, folder: Path, tmp_path: Path) -> None:
    text = f"""
import sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = [{str(GRAPHS)!r}]
import numpy as np, {graph} as graph
out = {{}}
for name in ({old!r}, {new!r}):
    make = getattr(graph, name)
    pipe = make({place_of(graph, folder)!r}, "gpu", {SMALL}, **{SETTINGS}, device_id=0)
    first = pipe.run()
    assert first[0].device != "cpu"
    for i, batch in enumerate(first):
        out[f"{{name}}{{i}}"] = np.asarray(batch.as_cpu().as_array())
np.savez({str(tmp_path / "out.npz")!r}, **out)
"""
    done = run_script(text, STOKER_SIMULATED_DEVICES="1")
    assert done.returncode == 0, done.stderr
    got = np.load(tmp_path / "out.npz")
    cpu = made(graph, new, folder).run()
    for i, batch in enumerate(cpu):
        np.testing.assert_array_equal(got[f"{old}{i}"], got[f"{new}{i}"])
        # A GPU may round the last bit differently.
        expected = batch.as_array()
        near = 1 if expected.dtype == np.uint8 else 2e-2
        assert max_difference(got[f"{new}{i}"], expected) <= near


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_quick_start_feeds_pytorch(folder: Path) -> None:
    from stoker.torch import DALIClassificationIterator

    pair = PAIRS["quick_start"][0]
    loaders = [
        DALIClassificationIterator(made("quick_start", name, folder), size=24) for name in pair
    ]
    steps = 0
    for (old,), (new,) in zip(*loaders, strict=True):
        assert tuple(old["data"].shape) == (4, SMALL, SMALL, 3)
        assert bool((old["data"] == new["data"]).all())
        assert old["label"].tolist() == new["label"].tolist()
        steps += 1
    assert steps == 6


@pytest.mark.parametrize(("graph", "old", "new"), ALL)
def test_graphs_run_by_themselves(graph: str, old: str, new: str, folder: Path) -> None:
    command = [sys.executable, str(GRAPHS / f"{graph}.py"), place_of(graph, folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{old}:" in done.stdout and f"{new}:" in done.stdout
    assert "224" in done.stdout


def test_every_graph_is_tried() -> None:
    assert {p.stem for p in GRAPHS.glob("*.py")} == {*PAIRS, "show"}


@pytest.mark.parametrize("name", ["VideoReader"])
def test_readers_that_are_not_there_say_so(name: str) -> None:
    today = name.removesuffix("Reader")
    message = rf"there is no operator 'ops\.readers\.{today}', as 'ops\.{name}' is called now"
    with pytest.raises(AttributeError, match=message):
        getattr(ops, name)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("HybridDecode", "image"),
        ("nvJPEGDecoder", "image"),
        ("nvJPEGDecoderCrop", "image_crop"),
        ("nvJPEGDecoderRandomCrop", "image_random_crop"),
    ],
)
def test_old_decoders_are_mixed(
    old: str, new: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    crop = {"crop": [SMALL, SMALL]} if new == "image_crop" else {}

    def decoded(device: str) -> Pipeline:
        with Pipeline(**SETTINGS, device_id=0) as pipe:
            files, _ = fn.readers.file(file_root=folder / "images")
            if device == "mixed":
                pipe.set_outputs(getattr(ops, old)(output_type=types.RGB, **crop)(files))
            else:
                pipe.set_outputs(getattr(fn.decoders, new)(files, **crop))
        return pipe

    mixed, cpu = decoded("mixed"), decoded("cpu")
    for _ in range(7):
        (got,), (right,) = mixed.run(), cpu.run()
        assert got.device == "simulated:0"
        assert_same(samples_of([got.as_cpu()]), samples_of([right]), old)
