// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes any bytes for annotations: of COCO as JSON or preprocessed, of VOC, or a compressed mask.
// The first byte chooses which.
#include <vector>

#include "refusals.h"
#include "stores/annotations/coco.h"
#include "stores/annotations/masks.h"
#include "stores/annotations/sound_manifest.h"
#include "stores/annotations/voc.h"

namespace stoker::stores {
namespace {

constexpr int64_t kMostPixels = 1 << 16;

void take_set(const CocoSet& set) {
  for (int64_t i = 0; i < set.size(); ++i) {
    const std::vector<float> corners = set.corners(i);
    for (const CocoSet::Polygon& p : set.polygons(i))
      if (p.first > p.last || 2 * static_cast<size_t>(p.last) > corners.size()) std::abort();
    const int64_t pixels = int64_t{set.height(i)} * set.width(i);
    // Long outlines take long, and find nothing new.
    constexpr size_t kMostCorners = 100;
    if (pixels > kMostPixels || corners.size() > kMostCorners) continue;
    std::vector<int32_t> rows(static_cast<size_t>(pixels));
    try {
      set.paint_masks(i, set.height(i), set.width(i), rows);
      set.check_extents(i);
      set.check_boxes(i);
      set.check_labels(i);
      set.check_masks(i);
    } catch (const SampleError& e) {
      fuzz::check_refusal(e, {});
    }
  }
}

void take_json(std::string_view text) {
  for (const CocoOptions& options : {CocoOptions{}, CocoOptions{.masks = true,
                                                                .size_threshold = 1,
                                                                .include_iscrowd = false,
                                                                .skip_empty = true,
                                                                .remap_classes = false}})
    if (fuzz::accepts<GraphError>(text, [&] { take_set(CocoSet(text, "fuzz", options)); }) &&
        options.masks) {
      const std::string bytes = CocoSet::preprocess(text, "fuzz");
      if (CocoSet::from_preprocessed(bytes, "fuzz", options).fingerprint() !=
          CocoSet(text, "fuzz", options).fingerprint())
        std::abort();
    }
}

}  // namespace
}  // namespace stoker::stores

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker::stores;
  if (size == 0) return 0;
  const std::vector<uint8_t> bytes(data + 1, data + size);
  const std::string_view text = stoker::fuzz::text_of(bytes.data(), bytes.size());
  try {
    switch (data[0] % 5) {
      case 0: take_json(text); break;
      case 1:
        (void)stoker::fuzz::accepts<stoker::GraphError>(
            text, [&] { take_set(CocoSet::from_preprocessed(text, "fuzz", {.masks = true})); });
        break;
      case 2: (void)parse_voc(bytes); break;
      case 4: (void)parse_sound_entry(text); break;
      default: {
        std::vector<int32_t> rows(static_cast<size_t>(kMostPixels));
        const RunLengths runs = parse_run_lengths(text);
        paint(runs, 1 << 8, 1 << 8, 1, rows.data());
      }
    }
  } catch (const stoker::SampleError& e) {
    stoker::fuzz::check_refusal(e, bytes);
  }
  return 0;
}
