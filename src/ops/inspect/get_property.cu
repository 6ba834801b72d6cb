// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker {

enum class Property : uint8_t { kSourceInfo, kLayout };
template <>
struct EnumNames<Property> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"source_info", "layout"};
};

namespace ops::inspect {

struct GetProperty {
  struct Letters {
    const char* from;
    uint8_t* to;
    int64_t pieces;
    STOKER_HD void run(int64_t k) const { to[k] = static_cast<uint8_t>(from[k]); }
  };

  Property key = Property::kSourceInfo;

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr auto schema = describe(
      "get_property",
      "Gives what is known of a tensor besides its values, as the bytes of a text.\n\n"
      "source_info is the name of the sample that its data were read from, such as the path of a "
      "file; what was fed has the name that it brought along. The text is empty where nothing is "
      "known.",
      ports({.name = "input", .help = "Any tensor."}),
      ports({.name = "output", .help = "The text, as uint8."}),
      arg(&GetProperty::key, "key", "What is asked for.", kRequired));

  std::string text(const Origin& origin, const Layout& layout) const {
    return key == Property::kLayout ? std::string(layout.str()) : origin.source();
  }

  void check(Checker& c) const { c.out({DType::kUint8, {}, {-1}}); }
  void infer(Inference& i) const {
    const auto size = static_cast<int64_t>(text(i.origin, i.inputs[0].layout).size());
    i.out({DType::kUint8, {}, {size}});
  }
  void demand(Demand& d) const { d.needed[0].end = d.needed[0].begin; }
  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    const std::string all = text(r.origin, r.inputs[0].layout);
    std::copy_n(all.data() + out.origin[0], out.shape[0], out.as<char>());
  }
  static void run_gpu(GpuRun& r, std::span<const GetProperty* const> items) {
    std::vector<Letters> work;
    for (size_t i = 0; i < items.size(); ++i) {
      const BatchItem& item = r.items[i];
      const std::string all = items[i]->text(item.origin, item.inputs[0].layout);
      if (!all.empty())
        work.push_back({r.put(std::span<const char>(all)), item.outputs[0].as<uint8_t>(),
                        item.outputs[0].shape[0]});
    }
    run_each(r, std::span<const Letters>(work));
  }

  static std::vector<Case> cases() {
    return {{"key='layout'", {"uint8 HWC [[[1]]]"}, {"uint8 [72, 87, 67]"}},
            {"key='source_info'", {"int32 5"}, {"uint8 []"}}};
  }
};

}  // namespace ops::inspect
}  // namespace stoker

STOKER_OPERATOR(stoker::ops::inspect::GetProperty)
