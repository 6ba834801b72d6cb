# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""tools/measure.py counts what it says, and tools/times.py keeps what it is told."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HEADER = """
class Counter final : public Base {
 public:
  Counter() : n_(0) {}
  // Not int commented();
  int count() const {
    return twice(n_);
  }
  static void reset();
  int plain = 0;

 private:
  int hidden();
};
struct Open {
  void read();
};
"""


@pytest.fixture
def tools(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(repository / "tools")

    def named(name: str) -> ModuleType:
        return importlib.import_module(name)

    return named


def test_public_functions_are_counted(tools: Any) -> None:
    pytest.importorskip(
        "lizard", reason="lizard comes with the lint set, `make measure` installs it"
    )
    assert tools("measure").public_functions(HEADER) == {"Counter": 3, "Open": 1}


def test_equal_lines_are_found_between_files(tools: Any) -> None:
    pytest.importorskip(
        "lizard", reason="lizard comes with the lint set, `make measure` installs it"
    )
    measure = tools("measure")
    lines = [f"statement number {i};" for i in range(measure.EQUAL_LINES)]
    assert measure.equal_runs({"a": lines, "b": ["other one;", *lines], "c": lines[1:]}) == 1


def test_steps_are_noted_with_their_code(
    tools: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = tools("times")
    monkeypatch.setattr(times, "NOTED", tmp_path / "build" / "times.json")
    report = tmp_path / "pytest.xml"
    report.write_text(
        "<testsuites><testsuite>"
        '<testcase classname="tests.a.test_a" name="x" time="2.5"/>'
        '<testcase classname="tests.a.test_a" name="y" time="1"/>'
        '<testcase classname="tests.b.test_b" name="z" time="7"/>'
        "</testsuite></testsuites>"
    )
    programs = tmp_path / "ctest.xml"
    programs.write_text(
        '<testsuite><testcase name="Order.x" classname="Order.x" time="2"><properties>'
        '<property name="cmake_labels" value="stoker_run_test"/>'
        "</properties></testcase></testsuite>"
    )
    monkeypatch.setattr(times, "REPORTS", (report, programs, tmp_path / "none.xml"))
    assert times.main(["step", "good", "true"]) == 0
    assert times.main(["step", "bad", "false"]) == 1
    assert set(times.load(times.NOTED)["steps"]) == {"good", "bad"}
    times.main(["report"])
    assert times.load(times.NOTED)["tests"] == {"a/test_a.py": 3.5, "b/test_b.py": 7, "run": 2}
    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if "test_" in line).split()[:2] == ["b/test_b.py", "7"]


def page_of(text: str) -> str:
    return f"# Tests\n\n{text}\n\n## Behind the table\n"


@pytest.fixture
def times(tools: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """tools/times.py with files of its own. 25 tests take 3, 4, ... seconds, and one takes 1."""
    times = tools("times")
    cases = "".join(f'<testcase classname="tests.a.test_{i}" time="{i}"/>' for i in range(3, 28))
    cases += '<testcase classname="tests.a.test_short" time="1"/>'
    for name in ("NOTED", "KEPT", "PAGE"):
        monkeypatch.setattr(times, name, tmp_path / name.lower())
    (tmp_path / "pytest.xml").write_text(f"<testsuite>{cases}</testsuite>")
    monkeypatch.setattr(times, "REPORTS", (tmp_path / "pytest.xml",))
    times.PAGE.write_text(page_of(f"{times.BEGIN}\nold\n{times.END}"))
    return times


def test_keeping_writes_the_slowest_into_the_page(times: Any) -> None:
    assert times.main(["keep"]) == 0
    page = times.PAGE.read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [f"| `tests/a/test_{i}.py` | {i} |" for i in range(27, 7, -1)]
    assert "old" not in page and page.startswith("# Tests\n")
    assert page.endswith(f"{times.END}\n\n## Behind the table\n")
    assert len(times.load(times.KEPT)["tests"]) == 25  # the short one is not kept
    times.main(["keep"])
    assert times.PAGE.read_text() == page


def test_files_that_take_as_long_stand_by_name_and_programs_by_theirs(times: Any) -> None:
    shown = times.slowest({"b/test_b.py": 4.0, "run": 9.4, "a/test_a.py": 4.0}).splitlines()[2:]
    assert shown == [
        "| `stoker_run_test` | 9 |",
        "| `tests/a/test_a.py` | 4 |",
        "| `tests/b/test_b.py` | 4 |",
    ]


@pytest.mark.parametrize("missing", ["BEGIN", "END"])
def test_a_page_without_marks_is_not_touched(times: Any, missing: str) -> None:
    text = page_of("".join(getattr(times, mark) for mark in ("BEGIN", "END") if mark != missing))
    times.PAGE.write_text(text)
    with pytest.raises(SystemExit, match="lacks the line <!--"):
        times.main(["keep"])
    assert times.PAGE.read_text() == text


def test_the_page_shows_what_is_kept(tools: Any) -> None:
    times = tools("times")
    page = times.PAGE.read_text(encoding="utf-8")
    assert f"{times.BEGIN}\n{times.slowest(times.load(times.KEPT)['tests'])}\n{times.END}" in page
