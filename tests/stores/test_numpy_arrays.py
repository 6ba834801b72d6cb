# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays that NumPy has saved: all dtypes and orders, damaged ones, windows."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from containers import listed_in, sha

from helpers import SIMPLE, make, samples_of
from stoker import Pipeline, _core, fn, types
from stoker.errors import GraphError, SampleError


@pytest.fixture(scope="module")
def arrays(test_data: Path) -> Path:
    return test_data / "containers" / "numpy"


def numpy_pipe(files: Sequence[Path], **arguments: Any) -> Pipeline:
    return make(lambda: fn.readers.numpy(files=[str(f) for f in files], **arguments))


def test_numpy_arrays(arrays: Path) -> None:
    expected = listed_in(arrays)
    read = 0
    for entry in expected["npy"]:
        path = arrays / entry["file"]
        dtype = np.dtype(entry.get("dtype", "O"))
        if dtype.kind in "biuf" and len(entry["shape"]) <= 6:
            ((got,),) = samples_of(numpy_pipe([path]).run())
            assert list(got.shape) == entry["shape"], path.name
            assert got.dtype == dtype.newbyteorder("="), path.name
            assert sha(got) == entry["sha256"], path.name
            read += 1
        else:
            with pytest.raises(GraphError, match=path.name):
                numpy_pipe([path]).build()
            with pytest.raises(SampleError, match=path.name):
                numpy_pipe([path], dtype=types.FLOAT).run()
    assert read >= 25


def test_damaged_numpy_arrays(arrays: Path) -> None:
    good = arrays / "mri_small.npy"
    damaged = [
        arrays / d["file"] for d in listed_in(arrays)["damaged"] if d["file"].endswith(".npy")
    ]
    assert len(damaged) >= 7
    for path in damaged:
        pipe = numpy_pipe([path, good], dtype=types.UINT8)
        with pytest.raises(SampleError) as raised:
            pipe.run()
        assert path.name in str(raised.value) and "byte" in str(raised.value), raised.value
        assert samples_of(pipe.run())[0][0].shape == (7, 32, 40)
        # The type is that of the first file that can be read.
        assert samples_of(numpy_pipe([good, path]).run())[0][0].dtype == np.uint8


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("stored", ["<i4", ">i4"])
@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("settings", [{}, SIMPLE])
def test_only_the_rows_of_a_window_are_read(
    tmp_path: Path, order: Any, stored: str, computed: bool, settings: dict[str, Any]
) -> None:
    """Reads behind them would fail."""
    array = np.arange(40 * 60 * 70, dtype=np.int32).reshape(40, 60, 70)
    window = [slice(2, 5), slice(3, 9), slice(4, 50)]
    path = tmp_path / "large.npy"
    np.save(path, np.asarray(array, order=order).astype(stored))
    begin, end = ([getattr(s, end) for s in window] for end in ("start", "stop"))

    def define() -> Any:
        start = fn.external_source(lambda: [np.array(begin, np.int32)]) if computed else begin
        read = {"files": [str(path)], "dtype": types.INT32}
        return fn.readers.numpy(roi_start=start, roi_end=end, **read)

    row = array[0].nbytes if order == "C" else array[..., 0].nbytes
    pipe = make(define, batch_size=1, **settings)
    pipe.build()
    faults = _core.ReadFaults(
        str(path), errno.EIO, 128 + 5 * row if order == "C" else 128 + 50 * row
    )
    ((got,),) = samples_of(pipe.run())
    np.testing.assert_array_equal(got, array[tuple(window)])
    assert faults.reads > 0
    del faults


@pytest.mark.parametrize(
    ("roi", "rows"),
    [
        ({"roi_start": []}, (0, 5)),
        ({"roi_start": [], "roi_shape": []}, (0, 5)),
        ({"roi_start": [2], "roi_end": [], "roi_axes": [0]}, (2, 5)),
        ({"rel_roi_start": [], "rel_roi_end": [0.4, 1.0]}, (0, 2)),
    ],
)
def test_an_empty_list_says_nothing_of_a_window(
    tmp_path: Path, roi: dict[str, Any], rows: tuple[int, int]
) -> None:
    path = tmp_path / "a.npy"
    array = np.arange(15, dtype=np.int16).reshape(5, 3)
    np.save(path, array)
    (batch,) = make(lambda: fn.readers.numpy(files=[str(path)], **roi)).run()
    np.testing.assert_array_equal(np.asarray(batch[0]), array[slice(*rows)])


@pytest.mark.parametrize("policy", ["pad", "trim_to_shape", "error"])
def test_windows_outside_of_large_arrays(tmp_path: Path, policy: str) -> None:
    array = np.arange(300 * 400, dtype=np.int32).reshape(300, 400)
    path = tmp_path / "large.npy"
    np.save(path, array)
    for start in ([290, 395], [310, 2], [-20, -20], [-5, 8]):

        def define(begin: list[int] = start, computed: bool = False) -> Any:
            given: Any = fn.external_source(lambda: [np.array(begin, np.int32)])
            return fn.readers.numpy(
                files=[str(path)],
                roi_start=given if computed else begin,
                roi_shape=[12, 9],
                out_of_bounds_policy=policy,
                fill_value=-1.0,
            )

        padded = np.pad(array, 40, constant_values=-1)
        y, x = (at + 40 for at in start)
        wanted = padded[y : y + 12, x : x + 9]
        if policy == "trim_to_shape":
            y, x = (max(at, 0) for at in start)
            wanted = array[y : max(start[0] + 12, 0), x : max(start[1] + 9, 0)]
        for computed in (False, True):
            pipe = make(lambda c=computed: define(computed=c))
            if policy == "error":
                with pytest.raises(SampleError, match=r"large\.npy"):
                    pipe.run()
                continue
            ((got,),) = samples_of(pipe.run())
            if wanted.size:
                np.testing.assert_array_equal(got, wanted)
            else:
                assert got.size == 0


def test_large_files_that_are_cut_off_name_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "large.npy"
    np.save(path, np.zeros((300, 400), np.int32))
    path.write_bytes(path.read_bytes()[:-1])
    for begin in ([1, 2], None):

        def define(begin: Any = begin) -> Any:
            start = begin or fn.external_source(lambda: [np.array([1, 2], np.int32)])
            return fn.readers.numpy(
                files=[str(path)], roi_start=start, roi_shape=[3, 4], dtype=types.INT32
            )

        with pytest.raises(SampleError, match=r"large\.npy.*byte"):
            make(define).run()


@pytest.mark.parametrize("rows", [4, 40000])  # a small file, and one of which parts are read
@pytest.mark.parametrize("roi", [{}, {"roi_start": [1], "roi_end": [3]}])
def test_a_file_that_goes_on_behind_its_array_is_refused(
    tmp_path: Path, rows: int, roi: dict[str, Any]
) -> None:
    for name, more in (("a", np.zeros(3)), ("b", np.zeros(1, np.uint8))):
        with (tmp_path / f"{name}.npy").open("wb") as file:
            np.save(file, np.zeros(rows))
            np.save(file, more)
        files = [str(tmp_path / f"{name}.npy")]
        with pytest.raises(SampleError, match=rf"{name}\.npy.*bytes, expected {8 * rows}"):
            make(lambda files=files: fn.readers.numpy(files=files, **roi)).run()


def test_no_more_of_a_file_is_read_than_its_header(tmp_path: Path) -> None:
    """Whole, this one would need half a terabyte."""
    path = tmp_path / "complex.npy"
    np.save(path, np.zeros(3, np.complex64))
    with path.open("r+b") as file:
        file.truncate(1 << 39)
    with pytest.raises(GraphError, match=r"complex\.npy.*has the dtype '<c8'"):
        numpy_pipe([path]).build()
    for start in ([1], fn.external_source(lambda: [np.array([1])])):
        pipe = make(
            lambda start=start: fn.readers.numpy(
                files=[str(path)], dtype=types.FLOAT, roi_start=start
            )
        )
        with pytest.raises(SampleError, match=r"complex\.npy.*has the dtype '<c8'"):
            pipe.run()


@pytest.mark.parametrize("roi", [{}, {"roi_start": [0]}, {"roi_start": None}])
def test_a_header_without_data_costs_nothing(tmp_path: Path, roi: dict[str, Any]) -> None:
    path = tmp_path / "claims.npy"
    np.save(path, np.zeros(0, np.uint8))
    path.write_bytes(path.read_bytes().replace(b"(0,), }" + b" " * 10, b"(1099511627776,)}"))

    def define() -> Any:
        given = {
            k: fn.external_source(lambda: [np.array([0])]) if v is None else v
            for k, v in roi.items()
        }
        return fn.readers.numpy(files=[str(path)], **given)

    with pytest.raises(SampleError, match="has 0 bytes, expected 1099511627776"):
        make(define).run()
