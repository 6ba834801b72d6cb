# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts get errors of the types that the established library raises, and are refused where it
refuses: tests/golden/peer_faults.json holds its answers, which tools/record_peer_faults.py writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import peer_faults as peer
import pytest

import stoker.compat
from stoker import errors, fn, pipeline_def

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "peer_faults.json"
RECORDED: dict[str, dict[str, Any]] = json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("text", [*peer.DEFINITIONS, *peer.PROGRAMS])
def test_what_becomes_of_a_script_is_as_in_the_established_library(text: str) -> None:
    stoker.compat.install()
    found, right = peer.outcome(stoker.compat.module(""), text), RECORDED[text]
    if "raises" in right:
        assert right["raises"][0] in found.get("raises", []), found
    else:
        assert found == right


def test_every_answer_is_asked_for() -> None:
    assert list(RECORDED) == [*peer.DEFINITIONS, *peer.PROGRAMS]


def refusal(define: Any) -> Exception:
    @pipeline_def(batch_size=1, num_threads=1)
    def pipe() -> Any:
        return define()

    with pytest.raises(errors.Error) as caught:
        pipe().run()
    return caught.value


def test_a_name_that_nothing_has_is_told_without_quotes_around_it() -> None:
    error = refusal(lambda: fn.flip(fn.zeros(shape=[2, 2, 3]), bogus=1))
    assert isinstance(error, errors.GraphKeyError)
    assert str(error).startswith("flip ")


def test_an_axis_that_is_not_there_is_known_before_the_run_or_in_it() -> None:
    import numpy as np

    known = refusal(lambda: fn.reductions.sum(fn.zeros(shape=[2, 2]), axes=[2]))
    assert isinstance(known, errors.GraphIndexError)
    computed = refusal(
        lambda: fn.squeeze(fn.zeros(shape=[1, 1]), axes=fn.constant(idata=[5], shape=[1]))
    )
    assert isinstance(computed, errors.SampleIndexError)
    assert computed.samples[0]["operator"] == "squeeze"
    assert np.ndim(computed.samples) == 1


def test_nothing_fed_is_no_failure_of_a_source() -> None:
    error = refusal(lambda: fn.external_source(dtype="uint8", ndim=1))
    assert isinstance(error, errors.SourceIndexError)

    def fails() -> Any:
        raise OSError("gone")

    assert not isinstance(refusal(lambda: fn.external_source(source=fails)), IndexError)
