# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Defects that tools/defects.py plants, one after the other. Some test must notice each.

They are small, compile, and break one thing each: what a slip of the hand or of the mind would. A
test keeps them current: `right` stands once in its file.
"""

from __future__ import annotations

from typing import NamedTuple


class Defect(NamedTuple):
    """A text of a file, and what stands there instead."""

    name: str
    file: str
    right: str
    wrong: str


DEFECTS = [
    # Inner loops.
    Defect(
        "cubic weights",
        "src/kernels/resample/taps.cc",
        "((-0.5 * x + 2.5) * x - 4) * x + 2 : 0",
        "((-0.5 * x + 2.5) * x - 4) * x + 2.01 : 0",
    ),
    Defect(
        "nearest pixel",
        "src/kernels/resample/taps.cc",
        "position(centre(a, o), 0, extent - 1)",
        "position(centre(a, o) - 0.5, 0, extent - 1)",
    ),
    Defect(
        "edges left out",
        "src/kernels/resample/taps.cc",
        "a.clamped ? kMostOutside : 0",
        "a.clamped ? 0 : 0",
    ),
    Defect(
        "fill of the wrong channel",
        "src/kernels/fused/target.cc",
        "entry(*f.fill, f.channel, origin + k, 0)",
        "entry(*f.fill, f.channel, k + 0 * origin, 0)",
    ),
    Defect(
        "padding of a row",
        "src/kernels/fused/target.cc",
        "pass.fill[i].hi[a] - out.origin[a]",
        "pass.fill[i].hi[a]",
    ),
    Defect(
        "sorting of medians",
        "src/kernels/neighbourhood/median.cc",
        "else if constexpr (k % 2) return least(odd[pair - 1], even[pair]);",
        "else if constexpr (k % 2) return odd[pair - 1];",
    ),
    # Operators.
    Defect(
        "size of a rotation",
        "src/op/window/rotation.cc",
        "std::ceil(reach - 0.01)",
        "std::ceil(reach)",
    ),
    Defect(
        "windows outside",
        "src/op/window/out_of_bounds.cc",
        "std::clamp<int64_t>(w.end[a], w.begin[a], in.shape[a])",
        "std::clamp<int64_t>(w.end[a], w.begin[a], in.shape[a] - 1)",
    ),
    Defect(
        "demand of noise",
        "src/ops/blur_and_noise/noise_gaussian.cu",
        "void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }",
        "",
    ),
    Defect(
        "GPU half of noise",
        "src/ops/blur_and_noise/noise_gaussian.cu",
        "[&](size_t i) { return items[i]->noise(); }",
        "[&](size_t) { return items[0]->noise(); }",
    ),
    Defect(
        "turn of a hue",
        "src/ops/color/hsv.cc",
        "{.hue = hue, .saturation = saturation,",
        "{.hue = -hue, .saturation = saturation,",
    ),
    # Bytes and their order.
    Defect("rounds of the permutation", "src/io/order/permute.h", "kRounds = 16", "kRounds = 14"),
    Defect(
        "padding of a short share",
        "src/io/order/order.cc",
        "offset + mine.begin + mine.size - 1)",
        "offset + mine.begin)",
    ),
    Defect(
        "cursor behind an epoch",
        "src/io/order/order.cc",
        "return from + s.left() + more / each * s.length",
        "return from + more / each * s.length",
    ),
    Defect(
        "segments of shards",
        "src/io/order/order.cc",
        "segment(rotates() ? (spec_.shard_id + epoch) % spec_.num_shards : spec_.shard_id)",
        "segment(spec_.shard_id + 0 * epoch)",
    ),
    Defect(
        "read twice",
        "src/io/fetch.cc",
        "  if (at->second.state == State::kTaken) return std::nullopt;\n",
        "",
    ),
    Defect(
        "room that is never free",
        "src/io/fetch.cc",
        "  release(at->second.cost);\n",
        "",
    ),
    Defect(
        "orientation of a sidecar",
        "src/codec/exif.cc",
        'xmp.starts_with("=\\"") ? 2 : xmp.starts_with(">") ? 1',
        'xmp.starts_with("=\\"") ? 2 : xmp.starts_with(">") ? 2',
    ),
    Defect(
        "magic number in a record",
        "src/stores/records/recordio.cc",
        "    if (part.flag != kFirst) {",
        "    if (part.flag == kLast) {",
    ),
    # Graph and plan.
    Defect(
        "side of a guard",
        "src/graph/json.cc",
        "guards.element(i).element(2).flag()",
        "!guards.element(i).element(2).flag()",
    ),
    Defect(
        "fused though used twice",
        "src/run/plan/plan.cc",
        "nodes_[i].is_early || uses[i] != 1 || next < 0",
        "nodes_[i].is_early || uses[i] < 1 || next < 0",
    ),
    Defect(
        "fused across a guard",
        "src/run/plan/plan.cc",
        " || node(i).guards != node(next).guards",
        "",
    ),
    Defect(
        "narrowed though an output",
        "src/run/plan/plan.cc",
        "    if (r.node == i) return false;\n",
        "    if (r.node == i && false) return false;\n",
    ),
    Defect(
        "one window for two readers",
        "src/run/chain/wanted.cc",
        "else wanted.include(window);",
        "else wanted = window;",
    ),
    # While steps are made.
    Defect(
        "claims that are not counted",
        "src/run/step/slots.cc",
        "for (int s = 0; s <= stage; ++s) sum += claimed(i, s);",
        "for (int s = 0; s < stage; ++s) sum += claimed(i, s);",
    ),
    Defect(
        "a replacement in the midst",
        "src/run/step/sample_maker.cc",
        "      if (stage > 0) return false;",
        "      if (stage > 2) return false;",
    ),
    Defect(
        "cancelled while it runs",
        "src/run/executors/iteration_queue.cc",
        "back().is_cancelled && !back().running_count) {",
        "back().is_cancelled) {",
    ),
    Defect(
        "memory that nobody is told of",
        "src/run/executors/admission.cc",
        "  if (ticket.releases != queue_.releases) return;\n",
        "",
    ),
    Defect(
        "charges that stay",
        "src/memory/arena.cc",
        "  used_ = charged_ = 0;\n}",
        "  used_ = 0;\n}",
    ),
    # Python.
    Defect(
        "the rest of an epoch",
        "python/stoker/frameworks/_epochs.py",
        "-(-(end - max(self._taken)) // self._counted.stride)",
        "(end - max(self._taken)) // self._counted.stride",
    ),
    Defect(
        "a loop that was left",
        "python/stoker/_pipeline/loops.py",
        "            self._is_left = not ends_epoch\n",
        "",
    ),
    Defect(
        "sides of `and`",
        "python/stoker/_conditionals/branches.py",
        'call_one("merge", truth, constant(False), first)',
        'call_one("merge", truth, constant(True), first)',
    ),
    Defect(
        "names of scopes",
        "python/stoker/_graph/scopes.py",
        'return f"{what}#{self._counts[name] - 1}"',
        'return f"{what}#{self._counts[name]}"',
    ),
]
