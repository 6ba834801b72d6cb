# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What Stoker tells about the machine's devices."""

from __future__ import annotations

import os

from helpers import run_script

SHOW = "import stoker; print(stoker.devices()); print(stoker.missing_gpu())"


def shown(**environment: str) -> list[str]:
    done = run_script(SHOW, **environment)
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


def test_simulated_devices_are_there_when_asked_for() -> None:
    devices, missing = shown(STOKER_SIMULATED_DEVICES="2")
    assert devices.count("kind='simulated'") == 2
    assert "name='simulated:1'" in devices
    assert devices.count("decoder='stand-in'") == 2
    assert "decoder_words='simulated:1 has a stand-in: the CPU decodes" in devices
    assert missing == "simulated devices were asked for"


def test_what_no_driver_tells_is_none() -> None:
    done = run_script(
        "import stoker; print(*stoker.devices()[0][-10:], sep='|')", STOKER_SIMULATED_DEVICES="1"
    )
    assert done.stdout == "|".join(["None"] * 9 + ["simulated:0 is no GPU\n"])


def test_without_a_gpu_it_is_said_what_is_missing() -> None:
    devices, missing = shown(STOKER_SIMULATED_DEVICES="")
    if os.environ.get("STOKER_REQUIRE_GPU") == "1":
        assert "kind='cuda'" in devices, missing
    elif devices == "[]":
        assert missing in ("this build is without CUDA",) or "driver" in missing
    else:
        assert "kind='cuda'" in devices and missing == ""


def test_a_wrong_count_is_refused() -> None:
    done = run_script("import stoker; stoker.devices()", STOKER_SIMULATED_DEVICES="many")
    assert "DeviceError" in done.stderr and "takes a count" in done.stderr
