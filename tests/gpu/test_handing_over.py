# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch takes batches on a GPU: no copy, no wait of the host, the right bytes."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counting import COLUMNS, ROWS, counting, expected, step_of

from helpers import make
from stoker import fn
from stoker.frameworks._epochs import LastBatchPolicy


def test_a_tensor_is_the_batch_s_memory(torch: Any) -> None:
    (batch,) = counting().run()
    assert (batch.device, batch.__dlpack_device__()) == ("cuda:0", (2, 0))
    tensor = torch.from_dlpack(batch)
    assert tensor.device == torch.device("cuda:0") and tensor.shape == (ROWS, COLUMNS)
    assert tensor.data_ptr() == batch.as_tensor().data_ptr == batch[0].data_ptr
    np.testing.assert_array_equal(tensor.cpu().numpy(), batch.as_cpu().as_array())
    np.testing.assert_array_equal(tensor.cpu().numpy(), expected(0))
    one = torch.from_dlpack(batch[3])
    assert one.data_ptr() == batch.at(3).data_ptr
    assert one.cpu().tolist() == expected(0)[3].tolist()


@pytest.mark.parametrize("own_stream", [False, True])
@pytest.mark.parametrize("is_busy", [False, True])
def test_many_steps_that_nobody_waits_for(
    torch: Any, spin: Callable[[], None], own_stream: bool, is_busy: bool
) -> None:
    """The test releases each step's memory while the kernels that read it are still enqueued."""
    pipe = counting(prefetch_queue_depth=2)
    stream = torch.cuda.Stream() if own_stream else torch.cuda.current_stream()
    sums, lasts = [], []
    with torch.cuda.stream(stream):
        for _ in range(40):
            tensor = torch.from_dlpack(pipe.run()[0])
            if is_busy:
                spin()
            sums.append(tensor.double().sum())
            lasts.append(tensor[-1, -1].clone())
            del tensor
    torch.cuda.synchronize()
    for number in range(40):
        assert sums[number].item() == expected(number).astype(np.float64).sum(), number
        assert lasts[number].item() == number * ROWS + ROWS - 1, number


def test_the_pipeline_may_end_before_its_tensors(torch: Any, spin: Callable[[], None]) -> None:
    pipe = counting()
    tensors = [torch.from_dlpack(pipe.run()[0]) for _ in range(5)]
    spin()
    sums = [tensor.double().sum() for tensor in tensors]
    pipe.close()
    del pipe
    gc.collect()
    for number, (tensor, total) in enumerate(zip(tensors, sums, strict=True)):
        assert total.item() == expected(number).astype(np.float64).sum()
        np.testing.assert_array_equal(tensor.cpu().numpy(), expected(number))


def test_memory_does_not_grow(torch: Any) -> None:
    import stoker

    pipe = counting()
    for _ in range(10):
        torch.from_dlpack(pipe.run()[0]).mul_(2)
    early = stoker.devices()[0].high_water
    for _ in range(200):
        torch.from_dlpack(pipe.run()[0]).mul_(2)
    assert stoker.devices()[0].high_water <= early * 1.5


def test_what_is_written_stays_and_changes_no_other_output(torch: Any) -> None:
    def define() -> Any:
        data = fn.external_source(source=step_of, device="gpu", batch=True)
        return data, data

    pipe = make(define, batch_size=ROWS, device_id=0)
    first, second = (torch.from_dlpack(b) for b in pipe.run())
    first.fill_(-1)
    pipe.run()
    assert first.min().item() == first.max().item() == -1
    np.testing.assert_array_equal(second.cpu().numpy(), expected(0))


def test_the_interface_of_cuda_s_arrays(torch: Any) -> None:
    (batch,) = counting().run()
    tensor = batch.as_tensor()
    interface = tensor.__cuda_array_interface__
    assert interface["version"] == 3 and interface["stream"] == 1
    assert interface["shape"] == (ROWS, COLUMNS) and interface["typestr"] == "<f4"
    assert interface["data"] == (tensor.data_ptr, False)
    del batch
    taken = torch.as_tensor(tensor, device="cuda")
    assert taken.data_ptr() == tensor.data_ptr
    np.testing.assert_array_equal(taken.cpu().numpy(), expected(0))


@pytest.mark.parametrize("ragged", [False, True])
def test_iterators_give_tensors_on_the_gpu(torch: Any, pictures: Path, ragged: bool) -> None:
    from stoker.torch import DataIterator

    def define() -> Any:
        encoded, label = fn.readers.file(file_root=pictures, name="Reader", pad_last_batch=True)
        image = fn.decoders.image(encoded)
        return (image if ragged else fn.resize(image, size=[20, 30])).gpu(), label

    on_gpu = DataIterator(
        make(define, batch_size=7, device_id=0),
        ["image", "label"],
        last_batch_policy=LastBatchPolicy.PARTIAL,
        ragged=["image"] if ragged else [],
    )
    reference = make(define, batch_size=7, device_id=0)
    steps = 0
    for step in on_gpu:
        images, _ = reference.run()
        host = images.as_cpu()
        count = len(step["image"])
        assert count == len(step["label"]) and step["label"].device.type == "cpu"
        for i in range(count):
            assert step["image"][i].device == torch.device("cuda:0")
            np.testing.assert_array_equal(step["image"][i].cpu().numpy(), host.at(i))
        steps += 1
    assert steps == 4 and count == 3


def test_sparse_tensors_are_on_the_gpu(torch: Any) -> None:
    from stoker.torch import DALIRaggedIterator

    shapes = [(2, 3), (4, 1)]
    pipe = make(
        lambda: fn.external_source(
            source=lambda number: [np.full(s, number + 1, np.int32) for s in shapes],
            device="gpu",
            batch=True,
        ),
        batch_size=2,
        device_id=0,
    )
    types = [DALIRaggedIterator.SPARSE_COO_TAG]
    step = next(DALIRaggedIterator(pipe, ["x"], size=2, output_types=types))[0]["x"]
    assert step.device == torch.device("cuda:0") and tuple(step.shape) == (2, 4, 3)
    dense = step.to_dense().cpu().numpy()
    assert dense[0].tolist() == [[1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert dense[1].tolist() == [[1, 0, 0]] * 4


def test_feed_ndarray_on_a_stream(torch: Any) -> None:
    from stoker.torch import feed_ndarray

    pipe = counting()
    stream = torch.cuda.Stream()
    for number, given in enumerate((None, stream, stream.cuda_stream)):
        target = torch.zeros(ROWS, COLUMNS, device="cuda:0")
        torch.cuda.synchronize()
        assert feed_ndarray(pipe.run()[0], target, cuda_stream=given) is target
        (stream if given is not None else torch.cuda.current_stream()).synchronize()
        np.testing.assert_array_equal(target.cpu().numpy(), expected(number))
