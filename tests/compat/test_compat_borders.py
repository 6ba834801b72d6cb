# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Which pixel stands for those beyond the edge, in our own pipelines and in scripts of DALI."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoker
import stoker.compat
from helpers import Array, load_tool
from stoker import fn, types

ROOT = Path(__file__).resolve().parents[2]
PICTURE = np.arange(9 * 11 * 3, dtype=np.uint8).reshape(9, 11, 3) % 89 * 2
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("resize", {"size": [4, 5]}),
    ("resize", {"size": [20, 30], "interp_type": types.INTERP_CUBIC}),
    ("resize", {"resize_shorter": 5.0, "interp_type": types.INTERP_LANCZOS3}),
    ("random_resized_crop", {"size": [4, 4], "random_area": [0.9, 1.0]}),
    ("resize_crop_mirror", {"size": [5, 6], "crop": [4, 5], "mirror": 1, "crop_pos_x": 0.0}),
    ("fast_resize_crop_mirror", {"size": [5, 30], "interp_type": types.INTERP_CUBIC}),
]


def ran(library: Any, name: str, arguments: dict[str, Any], **more: Any) -> Array:
    @library.pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=5)
    def pipe() -> Any:
        node = library.fn.external_source(source=lambda: [PICTURE], batch=True, layout="HWC")
        return getattr(library.fn, name)(node, **arguments, **more)

    built = pipe()
    built.build()
    return np.array(built.run()[0][0])


def compat() -> Any:
    stoker.compat.install()
    return stoker.compat.module("")


@pytest.mark.parametrize("name, arguments", CALLS)
def test_scripts_get_the_clamped_border_and_stoker_omits(name: str, arguments: Any) -> None:
    own, clamped = (ran(stoker, name, arguments, border=b) for b in ("omit", "clamp"))
    assert (ran(stoker, name, arguments) == own).all()
    assert (ran(compat(), name, arguments) == clamped).all()
    assert (own != clamped).any()


def test_a_border_that_a_script_gives_is_kept() -> None:
    name, arguments = CALLS[0]
    got = ran(compat(), name, arguments, border="omit")
    assert (got == ran(stoker, name, arguments)).all()


def test_classes_and_saved_pipelines_keep_the_border_of_the_script() -> None:
    library = compat()

    class Resizing(library.Pipeline):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(batch_size=1, num_threads=1, device_id=None)
            self.input = library.ops.ExternalSource(
                source=lambda: [PICTURE], batch=True, layout="HWC"
            )
            self.resize = library.ops.Resize(size=[4, 5])

        def define_graph(self) -> Any:
            return self.resize(self.input())

    pipe = Resizing()
    pipe.build()
    clamped = ran(stoker, "resize", {"size": [4, 5]}, border="clamp")
    assert (np.array(pipe.run()[0][0]) == clamped).all()

    @library.pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def fed() -> Any:
        return library.fn.resize(library.fn.external_source(name="in", layout="HWC"), size=[4, 5])

    saved = fed().serialize().decode()
    again = stoker.Pipeline.deserialize(saved)
    again.feed_input("in", [PICTURE])
    assert (np.array(again.run()[0][0]) == clamped).all()


def test_the_edge_of_a_region_is_that_of_the_picture() -> None:
    region = {"roi_start": [2, 3], "roi_end": [7, 8], "size": [3, 3]}
    inside = [ran(stoker, "resize", region, border=b) for b in ("omit", "clamp")]
    assert (inside[0] == inside[1]).all()


@pytest.mark.parametrize("border", ["mirror", "repeat", "constant"])
def test_other_borders_of_resize_are_refused(border: str) -> None:
    with pytest.raises(stoker.errors.GraphError, match="expects one of omit, clamp"):
        ran(stoker, "resize", {"size": [4, 5]}, border=border)


def test_borders_have_the_names_of_other_libraries_too() -> None:
    for name, argument, more in (
        ("filter", "border", [np.float32([[0, 0.5, 0], [0.25, 0, 0.25]])]),
        ("dilate", "border_mode", []),
        ("warp_perspective", "border_mode", [np.float32([[1, 0, -3], [0, 1, 2], [0, 0, 1]])]),
    ):
        for spelling, border in (
            ("101", "reflect_101"),
            ("reflect101", "reflect_101"),
            ("1001", "reflect_1001"),
            ("reflect", "reflect_1001"),
            ("replicate", "clamp"),
        ):

            @stoker.pipeline_def(batch_size=1, num_threads=1)
            def pipe(words: tuple[str, ...] = (spelling, border)) -> Any:
                node = fn.external_source(source=lambda: [PICTURE], batch=True, layout="HWC")
                call = getattr(fn, name)  # noqa: B023
                return tuple(call(node, *more, **{argument: w}) for w in words)  # noqa: B023

            got, right = pipe().run()
            assert (np.array(got[0]) == np.array(right[0])).all(), (name, spelling)


def test_the_picture_of_the_guide_shows_the_borders(tmp_path: Path) -> None:
    tool = load_tool(ROOT, "make_edges_picture")
    tool.main(tmp_path / "edges.png")
    assert (tmp_path / "edges.png").read_bytes() == tool.PAGE.read_bytes()
    omitted, clamped, apart = tool.pictures()
    assert (omitted != clamped).any()
    assert not apart[80:, 80:].any()  # away from the edge they are the same
