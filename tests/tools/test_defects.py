# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""tools/defects.py: each defect can be planted, and concerns some test."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest


def test_each_defect_fits_one_place(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(repository / "tools")
    defects = __import__("defects")
    assert len(defects.DEFECTS) >= 30
    assert max(Counter(d.name for d in defects.DEFECTS).values()) == 1
    for defect in defects.DEFECTS:
        text = (repository / defect.file).read_text(encoding="utf-8")
        assert text.count(defect.right) == 1, f"{defect.name}: no longer once in {defect.file}"
        assert defect.wrong not in text or defect.right in defect.wrong or len(defect.wrong) < 200
        plan = defects.check.plan_for([defect.file])
        assert plan.programs or plan.files, defect.name
    assert str(repository / "tests" / "defects") in sys.path


def test_the_first_failure_is_named(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(repository / "tools")
    defects = __import__("defects")
    of_ctest = "The following tests FAILED:\n\t  7 - Order.Deals (Failed)   stoker_io_test\n"
    of_pytest = "...\nFAILED tests/running/test_running.py::test_a - assert 1 == 2\n"
    assert defects.failed_test(of_ctest) == "Order.Deals"
    assert defects.failed_test(of_pytest) == "tests/running/test_running.py::test_a"
    assert defects.failed_test("one\nSegmentation fault\n") == "Segmentation fault"
