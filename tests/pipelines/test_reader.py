# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.file: the files that it finds, their labels, and its errors for wrong arguments.

And io.file.read, which reads files whose names come from elsewhere in the graph.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import labels_only

from helpers import SIMPLE, assert_same, make, samples_of, take
from stoker import Pipeline, fn
from stoker._cli.main import main
from stoker.errors import GraphError, SampleError, StateError


def read(**arguments: Any) -> list[tuple[str, int]]:
    """The (file name, label) of an epoch's samples."""

    def define() -> Any:
        return fn.readers.file(**arguments)

    got = []
    for encoded, label in make(define, batch_size=1):
        path = Path(encoded.source_info(0))
        assert np.array(encoded[0]).tobytes() == path.read_bytes()
        assert np.array(label[0]).dtype == np.int32 and np.array(label[0]).shape == (1,)
        got.append((path.name, int(np.array(label[0])[0])))
    return got


def test_file_root(folder: Path) -> None:
    expected = [(p.name, k) for k in range(4) for p in sorted((folder / f"class{k}").iterdir())]
    assert read(file_root=folder) == expected


def test_file_list(folder: Path, tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("class1/001.jpg 7\nclass0/000.jpg 3\nclass1/001.jpg 2\n")
    expected = [("001.jpg", 7), ("000.jpg", 3), ("001.jpg", 2)]
    assert read(file_list=listed, file_root=folder) == expected
    (folder.parent / "spaced").mkdir(exist_ok=True)
    (folder.parent / "spaced" / "a b.jpg").write_bytes((folder / "class0/000.jpg").read_bytes())
    beside = folder.parent / "spaced" / "list.txt"
    beside.write_text("a b.jpg 5\n")
    assert read(file_list=beside) == [("a b.jpg", 5)]


def test_files_and_labels(files: list[str], folder: Path) -> None:
    assert read(files=files[:3]) == [(Path(f).name, i) for i, f in enumerate(files[:3])]
    assert read(files=files[:2], labels=[9, -4]) == [("000.jpg", 9), ("001.jpg", -4)]
    assert read(files=["class2/002.jpg"], file_root=folder) == [("002.jpg", 0)]


def copied(file: str, folder: Path, names: Sequence[str]) -> Path:
    """The folder, with copies of the file under these names."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, path)
    return folder


@pytest.fixture
def mixed(tmp_path: Path, files: list[str]) -> Path:
    names = ["cats/1.jpg", "cats/2.JPEG", "cats/3.txt", "dogs/4.Jpg", "dogs/5.png", "owls/6.jpg"]
    return copied(files[0], tmp_path / "mixed", names)


def test_filters(mixed: Path) -> None:
    def chosen(**arguments: Any) -> list[tuple[str, int]]:
        return read(file_root=mixed, **arguments)

    assert [n for n, _ in chosen()] == ["1.jpg", "2.JPEG", "4.Jpg", "5.png", "6.jpg"]
    assert chosen(file_filters=["*.txt"]) == [("3.txt", 0)]
    assert [n for n, _ in chosen(file_filters=["*.jpg"])] == ["1.jpg", "4.Jpg", "6.jpg"]
    strict = chosen(file_filters=["*.jpg"], case_sensitive_filter=True)
    assert [n for n, _ in strict] == ["1.jpg", "6.jpg"]
    assert [n for n, _ in chosen(dir_filters=["cats", "o*"])] == ["1.jpg", "2.JPEG", "6.jpg"]
    assert chosen(dir_filters=["d*"]) == [("4.Jpg", 0), ("5.png", 0)]


@pytest.fixture
def nested(tmp_path: Path, files: list[str]) -> Path:
    """Two classes with folders below theirs, whose names sort differently than their paths."""
    names = [
        "cats/9.jpg",
        "cats/in/2.jpg",
        "cats/in/1.jpg",
        "cats/in/deep/3.jpg",
        "cats/in b/4.jpg",
        "cats/in.c/5.jpg",
        "cats/In/6.jpg",
        "cats/in/notes.txt",
        "dogs/7.jpg",
        "dogs/cats/8.jpg",
    ]
    return copied(files[0], tmp_path / "nested", names)


def image_folder(root: Path) -> list[tuple[str, int]]:
    """What torchvision's ImageFolder finds, and in which order."""
    from torchvision.datasets import ImageFolder  # takes seconds

    return [(Path(path).name, label) for path, label in ImageFolder(root).samples]


def test_nested_folders(nested: Path) -> None:
    found = [(f"{n}.jpg", 0) for n in (9, 6, 1, 2, 4, 5, 3)] + [("7.jpg", 1), ("8.jpg", 1)]
    assert read(file_root=nested, recursive=True) == found
    assert read(file_root=nested, recursive=True, dir_filters=["cats"]) == found[:7]
    assert read(file_root=nested, recursive=True, file_filters=["[3-8].*"]) == [
        (name, label) for name, label in found if "3" <= name[0] <= "8"
    ]
    assert image_folder(nested) == found


def test_nested_folders_that_link_to_each_other(nested: Path) -> None:
    before = read(file_root=nested, recursive=True)
    for k in range(8):
        (nested / "cats" / "in" / f"round{k}").symlink_to(nested / "cats")
        (nested / "dogs" / f"round{k}").symlink_to(nested)
    assert read(file_root=nested, recursive=True) == before
    (nested / "dogs" / "like").symlink_to(nested / "cats" / "in.c")
    assert read(file_root=nested, recursive=True) == [*before, ("5.jpg", 1)]


def test_nested_folders_that_are_left_out_are_told_once(nested: Path) -> None:
    def warnings_of(define: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pipe = make(define, batch_size=2)
            pipe.build()
            pipe.run()
        assert all(w.filename == __file__ for w in caught)
        return [str(w.message) for w in caught]

    def two_readers() -> Any:
        first = fn.readers.file(file_root=nested, name="first")
        return (*first, *fn.readers.file(file_root=nested, dir_filters=["dogs"], name="second"))

    first, second = (w for w in warnings_of(two_readers) if w.startswith("readers.file"))
    left_out = "folder{} within those of the classes, such as"
    assert first.startswith("readers.file 'first' (") and "test_reader.py:" in first
    assert f"leaves out 7 files in 6 {left_out.format('s')} '{nested}/cats/In'" in first
    assert f"leaves out 1 file in 1 {left_out.format('')} '{nested}/dogs/cats'" in second
    assert second.endswith("; recursive=True takes them too")
    assert not warnings_of(lambda: fn.readers.file(file_root=nested, recursive=True))
    (empty,) = warnings_of(lambda: fn.readers.file(file_root=nested, file_filters=["9.*"]))
    assert "counts 1 folder ('dogs') as a class" in empty and "recursive" not in empty


def test_files_that_all_lie_too_deep_are_told_of(nested: Path) -> None:
    with pytest.raises(GraphError, match=r"leaves out 9 files in 8 folders .*recursive=True"):
        make(lambda: fn.readers.file(file_root=nested.parent, dir_filters=["nested"])).build()


def test_a_state_knows_whether_nested_folders_were_read(nested: Path) -> None:
    def pipe(recursive: bool, root: Path = nested) -> Pipeline:
        return make(
            lambda: fn.readers.file(file_root=root, recursive=recursive, name="reader")[1],
            batch_size=2,
        )

    deep = pipe(True)
    deep.run()
    state = deep.state()
    expected = take(deep, 7)
    moved = nested.rename(nested.parent / "moved")
    resumed = pipe(True, moved)
    resumed.restore(state)
    assert_same(take(resumed, 7), expected, "resumed")
    with (
        pytest.warns(UserWarning, match="leaves out"),
        pytest.raises(StateError, match="'reader': size was 9, now it is 2"),
    ):
        pipe(False, moved).restore(state)
    (moved / "dogs" / "cats" / "more").mkdir()
    (moved / "dogs" / "cats" / "8.jpg").rename(moved / "dogs" / "cats" / "more" / "8.jpg")
    with pytest.raises(StateError, match="'reader' reads other files"):
        pipe(True, moved).restore(state)


def test_wrong_reader_arguments(files: list[str], folder: Path, tmp_path: Path) -> None:
    def message(**arguments: Any) -> str:
        with pytest.raises(GraphError) as raised:
            make(lambda: fn.readers.file(**arguments)).build()
        assert "readers.file" in str(raised.value)
        assert "test_reader.py:" in str(raised.value)
        return str(raised.value)

    assert "file_root" in message()
    assert "exclude" in message(files=files, file_list="x")
    assert "labels" in message(file_root=folder, labels=[1])
    assert "label" in message(files=files[:2], labels=[1])
    assert "nothere" in message(file_root=tmp_path / "nothere")
    assert "nothere" in message(file_list=tmp_path / "nothere")
    assert "shard_id" in message(files=files, num_shards=2, shard_id=2)
    assert "shards" in message(files=files[:2], num_shards=3)
    assert "random_shuffle" in message(files=files, random_shuffle=True, shuffle_after_epoch=True)
    assert "stick_to_shard" in message(files=files, shuffle_after_epoch=True, stick_to_shard=True)
    listed = tmp_path / "bad.txt"
    listed.write_text("one.jpg 1\ntwo.jpg\n")
    assert "2" in message(file_list=listed) and "bad.txt" in message(file_list=listed)


def test_reader_meta(files: list[str]) -> None:
    pipe = make(
        labels_only(files, num_shards=5, shard_id=3, pad_last_batch=True, stick_to_shard=True),
        batch_size=4,
    )
    meta = pipe.reader_meta("reader")
    assert meta == {
        "epoch_size": 37,
        "epoch_size_padded": 40,
        "number_of_shards": 5,
        "shard_id": 3,
        "pad_last_batch": True,
        "stick_to_shard": True,
    }
    assert pipe.reader_meta() == {"reader": meta}
    assert pipe.epoch_size("reader") == 40
    with pytest.raises(GraphError, match="Did you mean 'reader'"):
        pipe.reader_meta("raeder")


def file_read(names: list[bytes], **settings: object) -> Pipeline:
    def define() -> object:
        arrays = [np.frombuffer(n, np.uint8) for n in names]
        return fn.io.file.read(
            fn.external_source(lambda info: arrays[info.idx_in_epoch % len(arrays)], batch=False)
        )

    return make(define, **{"batch_size": len(names), **settings})


@pytest.mark.parametrize("settings", [{}, SIMPLE], ids=["pipelined", "simple"])
def test_reads_what_is_named(tmp_path: Path, settings: dict[str, object]) -> None:
    contents = [b"one", b"", bytes(range(256)) * 999]
    names = []
    for i, data in enumerate(contents):
        path = tmp_path / f"Zürich {i}.bin"
        path.write_bytes(data)
        names.append(bytes(path) + b"\0" * i)
    pipe = file_read(names, **settings)
    for _ in range(2):
        assert [s[0].tobytes() for s in samples_of(pipe.run())] == contents


def test_files_that_cannot_be_read_fail_their_samples(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.write_bytes(b"good")
    names = [bytes(good), b"/nothere/at all", bytes(tmp_path), b"\0\0", b""]
    for bad in range(1, len(names)):
        with pytest.raises(SampleError) as raised:
            file_read([names[0], names[bad]]).run()
        assert "io.file.read" in str(raised.value)
        skipping = file_read([names[0], names[bad]], on_error="skip")
        assert [s[0].tobytes() for s in samples_of(skipping.run())] == [b"good"]


@pytest.fixture
def cluttered(tmp_path: Path, files: list[str]) -> Path:
    """A folder of two classes, and what programs leave in such folders."""
    for name in (
        ".ipynb_checkpoints/a-checkpoint.jpg",
        "__MACOSX/cat/._a.jpg",
        "cat/a.jpg",
        "cat/._a.jpg",
        "cat/.DS_Store",
        "cat/Thumbs.db",
        "cat/b.heic",
        "dog/c.jpg",
        "empty/notes.txt",
        "loose.jpg",
    ):
        path = tmp_path / "set" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(files[0], path)
    return tmp_path / "set"


def test_what_lies_in_folders_is_told(cluttered: Path) -> None:
    with pytest.warns(UserWarning) as told:
        pipe = labels_of(cluttered)
    (text,) = (str(w.message) for w in told)
    for part in (
        "2 hidden folders ('.ipynb_checkpoints' and others)",
        "1 hidden file ('cat/._a.jpg')",
        "1 file ('cat/b.heic'), of formats that it takes only where file_filters names them",
        "1 file ('loose.jpg') in file_root itself",
        "1 folder ('empty') as a class",
    ):
        assert part in text
    assert pipe.reader_meta("Reader")["class_names"] == ["cat", "dog", "empty"]
    assert pipe.run()[0].as_array().ravel().tolist() == [0, 1]


@pytest.mark.parametrize("recursive", [False, True])
@pytest.mark.parametrize("filters", [["*"], ["cat", ".*"], ["CAT", "dog"]])
def test_classes_have_the_names_of_their_folders(
    cluttered: Path, filters: list[str], recursive: bool
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipe = labels_of(cluttered, dir_filters=filters, recursive=recursive)
    names = pipe.reader_meta("Reader")["class_names"]
    assert (".ipynb_checkpoints" in names) == (filters[-1] != "dog")
    (labels,) = pipe.run()
    for i in range(len(labels)):
        folder = Path(labels.source_info(i)).relative_to(cluttered).parts[0]
        assert names[int(labels.at(i)[0])] == folder


def test_check_tells_what_a_reader_tells(
    cluttered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.warns(UserWarning) as told:
        labels_of(cluttered)
    main(["check", str(cluttered)])
    (text,) = (str(w.message) for w in told)
    assert f"readers.file(file_root={cluttered}) leaves out 2 hidden" in (
        said := capsys.readouterr().out
    )
    assert text.splitlines()[0].partition(": ")[2] in said


def labels_of(root: Path, **arguments: Any) -> Pipeline:
    """Ready, with as many samples in a batch as there are."""

    def pipe(size: int) -> Pipeline:
        return make(
            lambda: fn.readers.file(file_root=root, name="Reader", **arguments)[1], batch_size=size
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        size = pipe(1).epoch_size("Reader")
    made = pipe(size)
    made.build()
    return made


def test_a_list_with_two_labels_for_a_file_is_told(files: list[str], tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text(f"{files[0]} 1\n{files[1]} 2\n{files[0]} 1\n{files[1]} 3\n")
    with pytest.warns(UserWarning, match=r"names 1 file \('.*'\) again with another label"):
        make(lambda: fn.readers.file(file_list=str(listed))[1]).build()


def test_readers_that_search_folders_leave_hidden_files_out(
    tmp_path: Path, files: list[str]
) -> None:
    for name in (".cache/a", "film/._a", "film/a", "film/b", "short/a"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        shutil.copyfile(files[0], path.with_suffix(".jpg"))
        with open(path.with_suffix(".npy"), "wb") as file:
            np.save(file, np.arange(3))
    hidden = r"leaves out 1 hidden folder \('.cache'\); leaves out 1 hidden file"
    with pytest.warns(UserWarning, match=hidden):
        arrays = make(lambda: fn.readers.numpy(file_root=tmp_path, name="Reader"))
        assert arrays.epoch_size("Reader") == 3
    with pytest.warns(UserWarning, match="takes 1 hidden file"):
        arrays = make(
            lambda: fn.readers.numpy(file_root=tmp_path, file_filter="*a.npy", name="Reader")
        )
        assert arrays.epoch_size("Reader") == 3
    with pytest.warns(UserWarning, match=hidden + ".*leaves out 1 folder .'short/'. with fewer"):
        films = make(
            lambda: fn.readers.sequence(file_root=tmp_path, sequence_length=2, name="Reader")
        )
        assert films.epoch_size("Reader") == 1
