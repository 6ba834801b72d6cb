# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A pipeline that makes the samples of a DataLoader's workers."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

from stoker import Pipeline, errors, fn, pipeline_def

torch = pytest.importorskip("torch")
from torch.utils.data import default_collate  # noqa: E402 - PyTorch may be missing

from stoker.compat import module  # noqa: E402
from stoker.frameworks import torch_proxy  # noqa: E402
from stoker.frameworks.torch_proxy import DALIServer, DataLoader  # noqa: E402

SIZE, BATCH = 11, 4


@pipeline_def(batch_size=BATCH, num_threads=2, seed=5)
def sums() -> Any:
    a, b = fn.external_source(name="a", no_copy=True), fn.external_source(name="b")
    return a + b, b - a


@pipeline_def(batch_size=BATCH, num_threads=2, seed=5)
def noisy() -> Any:
    x = fn.external_source(name="x")
    return x + fn.random.uniform(range=[0.0, 0.5])


class Numbers(torch.utils.data.Dataset):  # type: ignore[misc,name-defined]
    def __init__(self, make: Any) -> None:
        self.make = make

    def __len__(self) -> int:
        return SIZE

    def __getitem__(self, i: int) -> Any:
        return self.make(i), i


class OfSums(Numbers):
    def __getitem__(self, i: int) -> Any:
        a, b = np.full(2, i, np.float32), np.full(2, 10 * i, np.float32)
        return (self.make(a, b) if i % 2 else self.make(b=b, a=a)), {"label": i}


class OfNoise(Numbers):
    def __getitem__(self, i: int) -> Any:
        return self.make(np.float32([i]))


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_come_in_order_with_all_outputs(workers: int) -> None:
    with DALIServer(sums()) as server:
        loader = DataLoader(server, OfSums(server.proxy), BATCH, num_workers=workers)
        for _ in range(2):
            seen = []
            for (added, taken), labels in loader:
                i = labels["label"]
                assert torch.equal(added[:, 0], 11.0 * i) and torch.equal(taken[:, 1], 9.0 * i)
                seen += i.tolist()
            assert seen == list(range(SIZE))


def test_draws_do_not_depend_on_the_workers() -> None:
    def drawn(workers: int, **settings: Any) -> Any:
        with DALIServer(noisy(**settings)) as server:
            loader = DataLoader(server, OfNoise(server.proxy), BATCH, num_workers=workers)
            return torch.cat(list(loader))

    alone = drawn(0)
    assert torch.equal(alone, drawn(3)) and torch.equal(alone, drawn(2, prefetch_queue_depth=5))
    assert len(set((alone[:, 0] % 1).tolist())) > 1


def test_a_loop_that_is_broken_off_loses_no_order() -> None:
    with DALIServer(sums(prefetch_queue_depth=3)) as server:
        loader = DataLoader(server, OfSums(server.proxy), BATCH, drop_last=True)
        for _ in loader:
            break
        for (added, _), labels in loader:
            assert torch.equal(added[:, 0], 11.0 * labels["label"])


class Pair(NamedTuple):
    first: Any
    rest: Any


class Holder:
    def __init__(self, content: Any) -> None:
        self.content = content


def test_references_are_found_wherever_they_are() -> None:
    with DALIServer(noisy()) as server:
        ref = default_collate([server.proxy(np.float32([k])) for k in range(3)])
        made = server.produce_data(
            Pair([ref, "text"], {"held": Holder((ref, 7)), "tensor": torch.ones(1)})
        )
    assert torch.equal(made.first[0], made.rest["held"].content[0]), "made once"
    assert made.first[0].shape == (3, 1) and made.first[1] == "text"
    assert made.rest["held"].content[1] == 7 and made.rest["tensor"].item() == 1


def test_outputs_stay_together_on_their_way_between_processes() -> None:
    with DALIServer(sums()) as server:
        calls = [server.proxy(np.ones(2), np.full(2, k)) for k in range(2)]
        added, taken = server.produce_data(pickle.loads(pickle.dumps(default_collate(calls))))
        assert (added - taken == 2).all()


def test_inputs_of_a_wrong_number_or_name() -> None:
    proxy = DALIServer(sums()).proxy
    for wrong in (lambda: proxy(1), lambda: proxy(1, 2, 3), lambda: proxy(1, a=2)):
        with pytest.raises(TypeError, match=r"expects each input of the pipeline once \(a, b\)"):
            wrong()
    with pytest.raises(TypeError, match=r"got 0 by position and \['a', 'c'\] by name"):
        proxy(a=1, c=2)


def test_the_order_of_the_inputs_can_be_chosen() -> None:
    with DALIServer(sums(), input_names=["b", "a"]) as server:
        ref = default_collate([server.proxy(np.zeros(1), np.ones(1))])
        assert server.produce_data(ref)[1].item() == -1
    with pytest.raises(errors.GraphError, match=r"expects \['a', 'b'\] in any order"):
        DALIServer(sums(), input_names=["a"])


def test_a_server_that_does_not_run_or_cannot() -> None:
    server = DALIServer(noisy())
    ref = default_collate([server.proxy(np.zeros(1))])
    with pytest.raises(errors.StateError, match=r"use it inside `with DALIServer\(pipe\):`"):
        server.produce_data(ref)
    pipe = Pipeline(batch_size=1, num_threads=1)
    pipe.set_outputs(fn.external_source([[np.zeros(1)]]))
    with pytest.raises(errors.GraphError, match="a pipeline with an input to feed"):
        DALIServer(pipe)


def test_a_single_sample_has_to_be_collated() -> None:
    with DALIServer(noisy()) as server, pytest.raises(TypeError, match="collate samples"):
        server.produce_data([server.proxy(np.zeros(1))])


def test_what_the_pipeline_raises_is_raised_for_its_batch() -> None:
    @pipeline_def(batch_size=BATCH, num_threads=1)
    def decoded() -> Any:
        return fn.decoders.image(fn.external_source(name="encoded"))

    def picture(color: int) -> bytes:
        return b"P6 1 1 255\n" + bytes([color] * 3)

    with DALIServer(decoded()) as server:
        refs = [default_collate([server.proxy(x)]) for x in (picture(1), b"none", picture(3))]
        server.begin(refs)
        assert server.produce_data(refs[2]).max() == 3
        with pytest.raises(errors.SampleError, match="could not be made"):
            server.produce_data(refs[1])
        assert server.produce_data(refs[0]).max() == 1


def test_scripts_find_it_under_its_name() -> None:
    there = module("plugin.pytorch.experimental.proxy")
    assert there.DALIServer is DALIServer and there.DataLoader is DataLoader
    assert module("plugin.pytorch.proxy").DALIServer is DALIServer
    assert module("plugin.pytorch.torch_utils").to_torch_tensor(np.ones(2), True).sum() == 2
    assert torch_proxy.DALIProxy is there.DALIProxy
