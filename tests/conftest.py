# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures for the tests: made here, and real ones where there is a folder of them."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = 37  # no multiple of the batch sizes and shard counts that are tried
sys.path.insert(0, str(ROOT / "examples"))

# Importing JAX and TensorFlow reads these. They ask for several CPU devices and for no chatter.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

# Indexes that readers make go here, and not beside the test data. The folder is made where needed.
os.environ.setdefault(
    "STOKER_INDEX_DIR", str(Path(tempfile.gettempdir(), f"stoker-indexes-{os.getpid()}"))
)

# Tests that a shell runs in the background, and their children, would otherwise ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", default="1/1", metavar="K/N", help="only the Kth part of N parts")
    parser.addoption(
        "--rotate", default="1/1", metavar="K/N", help="the same for tests marked as one_of_many"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # A process counts its devices once, and conformance asks for simulated ones before it does.
    items.sort(key=lambda item: "conformance" not in item.path.parts)
    in_part, in_turn = part_chooser(config, "--part"), part_chooser(config, "--rotate")
    is_chosen = [
        in_part(item) and (in_turn(item) or not item.get_closest_marker("one_of_many"))
        for item in items
    ]
    config.hook.pytest_deselected(
        items=[i for i, is_in in zip(items, is_chosen, strict=True) if not is_in]
    )
    items[:] = [i for i, is_in in zip(items, is_chosen, strict=True) if is_in]


def part_chooser(config: pytest.Config, option: str) -> Callable[[pytest.Item], bool]:
    """What says whether a test is in the part that an option asks for."""
    k, n = map(int, config.getoption(option).split("/"))
    if not 1 <= k <= n:
        raise pytest.UsageError(f"{option} {k}/{n}: there is no such part")
    return lambda item: zlib.crc32(item.nodeid.encode()) % n == k - 1


@pytest.fixture(scope="session")
def repository() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 JPEG pictures of several sizes in four class folders, which no test may change."""
    import synthetic_photos

    with pytest.MonkeyPatch.context() as patch:  # a third of the size takes a ninth of the time
        patch.setattr(
            synthetic_photos, "SIZES", [(h // 3, w // 3) for h, w in synthetic_photos.SIZES]
        )
        return synthetic_photos.make_photos(tmp_path_factory.mktemp("photos") / "pictures", 24)


@pytest.fixture(scope="session")
def damaged(pictures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same pictures, but the second file is cut off in the middle."""
    folder = tmp_path_factory.mktemp("photos") / "damaged"
    shutil.copytree(pictures, folder)
    victim = folder / "balls" / "0004.jpg"
    victim.write_bytes(victim.read_bytes()[: victim.stat().st_size // 2])
    return folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """FILES small pictures of many sizes and kinds in four classes, which no test may change."""
    import jpegs

    files = {}
    for i in range(FILES):
        height, width = 20 + (i * 13) % 41, 20 + (i * 29) % 37
        kind = jpegs.KINDS[i % len(jpegs.KINDS)]
        data = jpegs.encode(jpegs.picture(height, width, i), kind)
        files[f"class{i % 4}/{i:03}.jpg"] = data
    return jpegs.write_folder(tmp_path_factory.mktemp("folder"), files)


@pytest.fixture(scope="session")
def files(folder: Path) -> list[str]:
    """The paths of the pictures of `folder`, sorted."""
    return [str(p) for p in sorted(folder.rglob("*.jpg"), key=lambda p: p.name)]


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Real pictures and other files, from STOKER_TEST_DATA or ../shared/data."""
    folder = Path(os.environ.get("STOKER_TEST_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no test data in {folder}; STOKER_TEST_DATA says where they are")
    return folder
