# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The table of bench/compare, made of known numbers."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/compare"))

from table import Report, Times, quartiles, ratio


def player(name, **facts):
    return SimpleNamespace(name=name, about=f"about {name}", rounds=[{"images": 10, **facts}])


def test_quartiles_lie_within_the_values():
    assert quartiles([3.0, 1.0, 2.0, 5.0, 4.0]) == (2.0, 3.0, 4.0)
    assert quartiles([7.0]) == (7.0, 7.0, 7.0)


def test_ratio_is_taken_round_by_round():
    # Both slow down in the second round, which does not change the ratio.
    slow = Times(wall=[200, 2000, 300], cpu=[150, 150, 150])
    fast = Times(wall=[100, 1000, 100], cpu=[100, 100, 100])
    assert ratio(slow, fast) == "2.00 x | 2.00 - 2.50 | 1.50 x"
    assert ratio(fast, fast) == "1.00 x | 1.00 - 1.00 | 1.00 x"


def test_report_splits_the_cost_beyond_decode_and_resize():
    # 10 pictures in a second, half of it other programs'. Of 50 ms CPU, 30 decode and 10 resize.
    inside = {"decoders_image_0": 0.6, "window": 0.2}
    players = [
        player("stoker"),
        player("limit", seconds=1.0, decode=0.75),
        player("stoker:resized", seconds=1.0, cpu=0.5, operators=inside),
    ]
    times = {
        "stoker": Times([100000], [60000]),
        "limit": Times([80000], [40000]),
        "stoker:resized": Times([100000], [50000]),
        "stoker:unindexed": Times([150000], [90000]),
    }
    report = Report("a machine")
    report.one_core(players, times, "same pixels", core=0)
    text = report.text()
    assert "| what the epochs before noted | 10 | 0.80 x | 0.80 - 0.80 | 0.67 x | 1.50 x |" in text
    assert "| about limit | 12 | 0.80 x | 0.80 - 0.80 | 0.67 x |" in text
    assert "decode 30000 (30000 - 30000), resize 10000 (10000 - 10000)" in text
    assert "20000 (20000 - 20000): 50.0 % (50.0 - 50.0) of the 40000" in text
    assert "of libjpeg-turbo's limit, of which decode 30000 (30000 - 30000)." in text


def test_report_of_starts_compares_with_stoker():
    report = Report("a machine")
    report.abouts = {"stoker": "Stoker", "dali": "DALI"}
    report.starts({"stoker": [0.5, 0.4], "dali": [1.0, 1.2]}, {"stoker": 100.0, "dali": 150.0})
    assert "| DALI | 1.10 | 2.5 x | 150 | 1.5 x |" in report.text()


@pytest.mark.parametrize("memory", [[100.0], [100.0, 120.0, 130.0, 131.0]])
def test_report_of_epochs_says_where_memory_settles(memory):
    report = Report("a machine")
    report.epochs(memory)
    settled = memory[2:] or memory
    assert f"{min(settled):.0f} - {max(settled):.0f} from the third on" in report.text()
