# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""tools/check.py: the tests that a change concerns. Its table knows all files and tests."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CORES = 2


@pytest.fixture(scope="module")
def check(repository: Path) -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(repository / "tools")
        yield importlib.import_module("check")


@pytest.fixture(scope="module")
def tree(check: ModuleType) -> list[str]:
    """All files of the repository."""
    listed = check.git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    return [f for f in listed if (check.ROOT / f).is_file()]


def all_rows(check: ModuleType) -> list[Any]:
    return [*check.table.ROWS, check.table.WIDE]


def test_every_file_in_a_folder_of_sources_fits_a_row(check: ModuleType, tree: list[str]) -> None:
    folders = ("src", "bindings", "python", "tests", "tools", "examples", "bench", "fuzz", "docs")
    sources = [f for f in tree if f.startswith(tuple(f"{folder}/" for folder in folders))]
    assert len(sources) > 400
    assert [f for f in sources if check.table.row_of(f) is check.table.WIDE] == []


def test_every_pattern_decides_for_a_file(check: ModuleType, tree: list[str]) -> None:
    unused = [
        pattern
        for row in check.table.ROWS
        for pattern in row.files.split()
        if not any(fnmatchcase(f, pattern) and check.table.row_of(f) is row for f in tree)
    ]
    assert unused == []


def test_every_test_is_in_a_row(check: ModuleType, tree: list[str]) -> None:
    named = {test for row in all_rows(check) for test in row.python.split()}
    reached = {file for test in named for file in check.test_files(test)}
    written = [f.removeprefix("tests/") for f in tree if fnmatchcase(f, "tests/*test_*.py")]
    assert sorted(reached) == sorted(written)


def test_every_program_is_in_a_row(check: ModuleType, repository: Path) -> None:
    made = (repository / "cmake/tests.cmake").read_text()
    folders = re.findall(r"^foreach\(folder (.*)\)", made, re.M)[0]
    for file in ("torture", "fuzz"):
        made += (repository / f"cmake/{file}.cmake").read_text()
    others = set(re.findall(r"(?:stoker_test|custom_target)\(stoker_(\w+)_test", made))
    if not list(repository.glob("src/*_test.cc")):
        others.remove("api")  # it is made of those
    built = sorted([*folders.split(), *others])
    assert sorted(check.table.PROGRAMS.split()) == built
    rows = [row for row in check.table.ROWS if row.programs != check.table.PROGRAMS]
    assert sorted({p for row in rows for p in row.programs.split()}) == built


def test_what_the_table_names_exists(check: ModuleType) -> None:
    words = {check.table.OPERATOR, check.table.ITSELF, *check.table.PROGRAMS.split()}
    named = {test for row in all_rows(check) for test in row.python.split()}
    named |= {*check.table.TARGETS, *check.table.FRAMEWORKS.split()}
    assert [name for name in named - words if not check.test_files(name)] == []


def test_no_row_takes_over_three_minutes(check: ModuleType) -> None:
    for row in all_rows(check):
        plan = check.Plan(
            programs=row.programs.split(),
            operators=["any"] if check.table.OPERATOR in row.python else [],
            files=list(dict.fromkeys(f for t in row.python.split() for f in check.test_files(t))),
        )
        assert plan.seconds(CORES) <= check.LIMIT, row.files


@pytest.mark.parametrize(
    ("changed", "programs", "operators", "first"),
    [
        ("src/ops/geometry/flip.cc", "operators op", ["flip"], "conformance/test_describe.py"),
        ("src/ops/random/coin_flip.cu", "operators op", ["random.coin_flip"], "conformance/"),
        ("tests/oracles/decoders_image.py", "", ["decoders.image"], None),
        ("tests/oracles/common.py", "", [], "conformance/test_arguments.py"),
        ("src/codec/nvjpeg/fault_test.cc", "cuda nvjpeg", [], None),
        ("src/io/order/order_test.cc", "io", [], None),
        ("src/io/order/order.cc", "io op operators run", [], "pipelines/test_reader.py"),
        ("src/run/feed/feed.h", "run", [], "feeds/test_feed_input.py"),
        ("bindings/feed.cc", "", [], "feeds/test_feed_input.py"),
        ("python/stoker/_sources/feeder.py", "", [], "feeds/test_feed_input.py"),
        ("python/stoker/frameworks/jax/iterators.py", "", [], "frameworks/test_jax.py"),
        ("python/stoker/numpy.py", "", [], "frameworks/test_numpy.py"),
        ("tests/running/test_styles.py", "", [], "running/test_styles.py"),
        ("tests/running/test_gone.py", "", [], None),
        ("docs/guide/moving-over.md", "", [], "compat/test_moving_over.py"),
        ("docs/design/002-executor.md", "", [], None),
    ],
)
def test_what_a_change_concerns(
    check: ModuleType, changed: str, programs: str, operators: list[str], first: str | None
) -> None:
    plan = check.plan_for([changed])
    assert plan.programs == programs.split()
    assert plan.operators == operators
    if first is None:
        assert plan.files == []
    else:
        assert plan.files[0].startswith(first)


def test_the_nearest_come_first_and_nothing_comes_twice(check: ModuleType) -> None:
    changed = ["python/stoker/_sources/feeder.py", "src/op/type_of.h", "src/ops/geometry/flip.cc"]
    plan = check.plan_for(changed)
    assert len(set(plan.files)) == len(plan.files)
    near, far = "feeds/test_feed_input.py", "new_operators/test_new_operator.py"
    assert plan.files.index(near) < plan.files.index(far)
    assert plan.operators == []  # all operators are tested, because of op.h
    assert plan.programs == ["op", "operators", "run"]
    assert [path for paths in plan.reasons.values() for path in paths] == changed


def test_only_what_is_needed_is_installed_and_built(check: ModuleType) -> None:
    plan = check.plan_for(["src/graph/json.cc", "examples/resnet50.cc"])
    assert plan.sets() == []
    assert plan.targets() == [
        *("stoker_graph_test", "stoker_run_test"),
        *("stoker_stage", "example_resnet50"),
    ]
    assert check.plan_for(["docs/guide/jax.md"]).sets() == ["frameworks", "mxnet"]
    assert check.plan_for(["src/io/paths/glob_test.cc"]).targets() == ["stoker_io_test"]
    assert check.plan_for(["LICENSE"]).targets() == []


def test_an_operator_s_name_chooses_its_tests_alone(check: ModuleType, repository: Path) -> None:
    command = ["-m", "pytest", "--collect-only", "-q", "tests/conformance/test_values.py", "-k"]
    listed = subprocess.run(
        [sys.executable, *command, check.keywords(["crop", "random.coin_flip"])],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    )
    names = re.findall(r"\[(.*)\]$", listed.stdout, re.M)
    assert {part for name in names for part in name.split("-")} == {
        *("crop", "random.coin_flip", "simple", "pipelined")
    }


def test_changes_are_those_since_the_branch_left_its_base(
    check: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)

    def commit(*names: str) -> None:
        for name in names:
            (tmp_path / name).write_text(name)
        git("add", ".")
        git("commit", "-q", "-m", "change")

    monkeypatch.setattr(check, "ROOT", tmp_path)
    monkeypatch.delenv("BASE", raising=False)
    git("init", "-q", "-b", "main")
    commit("kept", "edited", "removed")
    git("checkout", "-q", "-b", "topic")
    commit("committed")
    (tmp_path / "edited").write_text("otherwise")
    (tmp_path / "removed").unlink()
    (tmp_path / "new name").touch()
    name, base = check.find_base()
    assert name == "main"
    assert check.changed_since(base) == ["committed", "edited", "new name", "removed"]

    monkeypatch.setenv("BASE", "HEAD")
    assert check.changed_since(check.find_base()[1]) == ["edited", "new name", "removed"]
    monkeypatch.setenv("BASE", "nothing")
    with pytest.raises(SystemExit, match="no commit in common with nothing"):
        check.find_base()
    monkeypatch.delenv("BASE")
    git("checkout", "-q", "main")  # without an upstream, only what is not committed
    assert check.find_base()[0] == "HEAD"


def test_failures_of_either_kind_fail_the_whole(
    check: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = check.plan_for(["src/io/paths/glob.cc", "src/ops/geometry/flip.cc"])
    failing: list[str] = []
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, int(bool(set(failing) & set(command))))

    monkeypatch.setattr(subprocess, "run", run)
    assert check.run(plan, 2)
    marks = ["^stoker_(io|op|operators|run)_test$", "-k", "tests/pipelines/test_reader.py"]
    assert [mark in command for mark, command in zip(marks, commands, strict=True)] == [True] * 3
    for mark in marks:
        commands.clear()
        failing[:] = [mark]
        assert not check.run(plan, 2)
        assert len(commands) == 3


def test_without_a_word_it_says_which_there_are(repository: Path) -> None:
    called = [sys.executable, repository / "tools/check.py"]
    run = subprocess.run(called, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert "usage: check.py [-h] {sets,targets,run}" in run.stderr


def test_the_plan_is_announced(check: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    check.explain(check.plan_for(["src/io/paths/glob.cc"]), "main", CORES)
    assert "tests/pipelines/test_reader.py" in capsys.readouterr().out
    check.explain(check.plan_for([]), "main", CORES)
    assert capsys.readouterr().out == "check: nothing changed since main\n"
    everything = check.plan_for(
        ["src/op/type_of.h", "src/run/pipeline.cc", "python/stoker/torch.py"]
    )
    check.explain(everything, "main", CORES)
    assert "over three minutes" in capsys.readouterr().out
