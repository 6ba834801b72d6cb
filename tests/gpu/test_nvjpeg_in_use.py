# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""nvJPEG decodes pictures while PyTorch still reads those of earlier steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nvjpeg_files import pictures

from helpers import make
from stoker import Device, Pipeline, fn

STEPS, BATCH = 60, 8


def decoding(folder: Path, hw_decoder_load: float) -> Pipeline:
    def define() -> Any:
        files, _ = fn.readers.file(file_root=folder, pad_last_batch=True)
        return fn.decoders.image(files, device="mixed", hw_decoder_load=hw_decoder_load)

    return make(define, batch_size=BATCH, device_id=0, prefetch_queue_depth=2)


def sums(torch: Any, batch: Any) -> list[Any]:
    return [torch.from_dlpack(batch[i]).long().sum() for i in range(len(batch))]


@pytest.mark.parametrize("hw_decoder_load", [1.0, 0.0])
def test_what_is_still_read_is_not_written_to(
    gpu: Device,
    torch: Any,
    spin: Callable[[], None],
    tmp_path: Path,
    hw_decoder_load: float,
) -> None:
    assert gpu.decoder == "nvJPEG", gpu.decoder_words
    folder = pictures(tmp_path)
    quiet, busy = decoding(folder, hw_decoder_load), decoding(folder, hw_decoder_load)
    expected = []
    for _ in range(STEPS):
        expected += [total.item() for total in sums(torch, quiet.run()[0])]
    got = []
    for _ in range(STEPS):
        (batch,) = busy.run()
        spin()
        got += sums(torch, batch)
        del batch
    assert [total.item() for total in got] == expected
