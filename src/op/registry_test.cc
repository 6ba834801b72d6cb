// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "op/output_names.h"
#include "op/type_of.h"

namespace stoker {
namespace {

TEST(Registry, IsSortedAndComplete) {
  std::set<std::string> names;
  std::string before;
  for (const OperatorType& t : all_operators()) {
    EXPECT_LT(before, t.name);
    names.insert(before = t.name);
  }
  for (const char* name :
       {"readers.file", "decoders.image", "decoders.image_crop", "decoders.image_random_crop",
        "resize", "random_resized_crop", "crop", "slice", "flip", "crop_mirror_normalize", "cast",
        "copy", "per_frame", "random.coin_flip", "random.uniform", "constant", "external_source"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Registry, EverythingIsDocumented) {
  for (const OperatorType& t : all_operators()) {
    EXPECT_TRUE(t.summary.find(".\n\n") != std::string::npos)
        << t.name << ": a sentence, then the rest";
    for (const auto& ports : {t.inputs, t.outputs})
      for (const Port& p : ports) EXPECT_TRUE(*p.name && *p.help) << t.name;
    std::set<std::string> seen(t.ignored.begin(), t.ignored.end());
    EXPECT_EQ(seen.size(), t.ignored.size()) << t.name;
    for (const ArgumentInfo& a : t.arguments) {
      EXPECT_TRUE(seen.insert(a.name).second) << t.name << " has two " << a.name;
      EXPECT_FALSE(a.help.empty()) << t.name << " " << a.name;
      EXPECT_EQ(a.help.back(), '.') << t.name << " " << a.name;
    }
  }
}

TEST(Registry, DefaultsCanBeGivenBack) {
  for (const OperatorType& t : all_operators()) {
    Arguments defaults;
    for (const ArgumentInfo& a : t.arguments)
      if (!a.is_required) defaults[a.name] = a.fallback;
      else if (a.type == "DType") defaults[a.name] = std::string("float32");
      else if (!a.names.empty()) defaults[a.name] = a.names[0];
      else if (a.type == "str" || a.type == "Sequence[str]")
        defaults[a.name] = std::string("layout");
      else defaults[a.name] = int64_t{1};
    EXPECT_NO_THROW(t.make(defaults)) << t.name;
  }
}

TEST(Registry, NamesTheNearest) {
  EXPECT_EQ(operator_named("crop").name, "crop");
  try {
    operator_named("rezise");
    FAIL();
  } catch (const GraphError& e) {
    EXPECT_STREQ(e.what(), "no operator named 'rezise'. Did you mean 'resize'?");
  }
  const std::string names[] = {"horizontal", "vertical"};
  EXPECT_EQ(did_you_mean("horisontal", names), " Did you mean 'horizontal'?");
  EXPECT_EQ(did_you_mean("HORIZONTAL", names), " Did you mean 'horizontal'?");
  EXPECT_EQ(did_you_mean("mean", names), "");
  const std::vector<std::string> words = {"num_threads", "crop", "random_crop_generator",
                                          "INTERP_LINEAR"};
  EXPECT_EQ(did_you_mean("threads", words), " Did you mean 'num_threads'?");
  EXPECT_EQ(did_you_mean("random_crop", words), " Did you mean 'crop' or 'random_crop_generator'?");
  EXPECT_EQ(did_you_mean("bilinear", words), " Did you mean 'INTERP_LINEAR'?");
  EXPECT_EQ(did_you_mean("num", words), "");
}

TEST(Registry, ArgumentsAreChecked) {
  const OperatorType& crop = operator_named("crop");
  EXPECT_THROW(crop.make({{"crop_pos_x", 1.5}}), GraphError);
  EXPECT_THROW(crop.make({{"rounding", std::string("up")}}), GraphError);
  EXPECT_THROW(crop.make({{"crop", std::vector<double>{-1, 2}}}), GraphError);
  EXPECT_THROW(operator_named("cast").make({}), GraphError);
  EXPECT_THROW(operator_named("cast").make({{"dtype", Value{}}}), GraphError);
  EXPECT_GE(crop.argument("crop_d"), 0);
  EXPECT_EQ(crop.argument("crop_q"), -1);
}

TEST(Registry, RangesAreNamedInTheArgumentsOwnWords) {
  const auto message = [](const char* op, const char* argument, const Value& v) {
    try {
      operator_named(op).make({{argument, v}});
    } catch (const GraphError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("flip", "vertical", int64_t{2}), "argument 'vertical' is 2, expected 0 to 1");
  EXPECT_EQ(message("crop", "crop_pos_x", 1.5), "argument 'crop_pos_x' is 1.5, expected 0 to 1");
  EXPECT_EQ(message("crop", "crop_h", -1.0), "argument 'crop_h' is -1.0, expected at least 0");
  EXPECT_EQ(message("resize", "resize_x", std::nan("")), "argument 'resize_x' is not a number");
  EXPECT_EQ(message("random_resized_crop", "size", std::vector<int64_t>{0}),
            "argument 'size' is 0, expected at least 1");
}

TEST(Registry, AnOutputMayDependOnAFlag) {
  const OperatorType& resize = operator_named("resize");
  EXPECT_EQ(resize.outputs.size(), 2u);
  EXPECT_EQ(resize.output_count({}), 1u);
  EXPECT_EQ(resize.output_count({{"save_attrs", false}}), 1u);
  EXPECT_EQ(resize.output_count({{"save_attrs", true}}), 2u);
  EXPECT_EQ(resize.output_count({{"save_attrs", int64_t{1}}}), 2u);
}

TEST(Registry, AnOutputMayDependOnAnInput) {
  const OperatorType& type = operator_named("random_bbox_crop");
  const auto count = [&](const Arguments& given, size_t inputs) {
    return output_names(type, given, [&](size_t i) { return i < inputs; }).size();
  };
  EXPECT_EQ(count({}, 1), 3u);
  EXPECT_EQ(count({}, 2), 4u);
  EXPECT_EQ(count({{"output_bbox_indices", true}}, 1), 4u);
  EXPECT_EQ(count({{"output_bbox_indices", true}}, 2), 5u);
}

TEST(Registry, AnOutputMayDependOnAText) {
  const OperatorType& type = operator_named("segmentation.random_object_bbox");
  EXPECT_EQ(type.output_count({}), 2u);
  EXPECT_EQ(type.output_count({{"format", std::string("start_end")}}), 2u);
  EXPECT_EQ(type.output_count({{"format", std::string("box")}}), 1u);
  EXPECT_EQ(type.output_count({{"format", std::string("box")}, {"output_class", true}}), 2u);
}

TEST(Registry, AnOutputMayDependOnANumber) {
  const OperatorType& caffe2 = operator_named("readers.caffe2");
  EXPECT_EQ(caffe2.output_names({}), (std::vector<std::string>{"image", "label"}));
  EXPECT_EQ(caffe2.output_names({{"label_type", int64_t{4}}}), std::vector<std::string>{"image"});
  EXPECT_EQ(caffe2.output_names({{"label_type", int64_t{3}}, {"image_available", false}}),
            std::vector<std::string>{"label"});
}

struct Parts {
  bool total = false;
  int count = 2;
  Small<int> sizes;
  std::vector<std::string> names;
  int sample = 0;
};
constexpr auto kParts = std::tuple{arg(&Parts::total, "total", ""), arg(&Parts::count, "count", ""),
                                   arg(&Parts::sizes, "sizes", ""), arg(&Parts::names, "names", ""),
                                   arg(&Parts::sample, "sample", "", kPerSample)};
constexpr auto parts_for(const char* argument, const char* when = "") {
  return describe("parts", "", ports(),
                  ports({.name = "all"}, {.name = "part", .when = when, .for_each = argument}),
                  kParts);
}

OperatorType type_for(const char* argument, const char* when = "") {
  OperatorType t;
  for (const Port& p : parts_for(argument, when).outputs) t.outputs.push_back(p);
  std::apply([&](auto... a) { (t.arguments.push_back(detail::info_of(Parts(), a)), ...); }, kParts);
  return t;
}

using Names = std::vector<std::string>;

TEST(Registry, OutputsMayFollowFromAList) {
  const OperatorType named = type_for("names"), sized = type_for("sizes");
  EXPECT_EQ(named.output_names({}), Names{"all"});
  EXPECT_EQ(named.output_names({{"names", Names{"jpg", "cls"}}}), (Names{"all", "jpg", "cls"}));
  EXPECT_EQ(named.output_names({{"names", std::string("jpg")}}), (Names{"all", "jpg"}));
  EXPECT_EQ(sized.output_names({{"sizes", std::vector<int64_t>{4, 5}}}),
            (Names{"all", "part_0", "part_1"}));
  EXPECT_EQ(sized.output_names({{"sizes", int64_t{7}}}), (Names{"all", "part_0"}));
}

TEST(Registry, OutputsMayFollowFromANumber) {
  const OperatorType counted = type_for("count"), flagged = type_for("count", "total");
  EXPECT_EQ(counted.output_names({}), (Names{"all", "part_0", "part_1"}));
  EXPECT_EQ(counted.output_count({{"count", 1.0}}), 2u);
  EXPECT_EQ(counted.output_count({{"count", int64_t{-3}}}), 1u);
  EXPECT_EQ(counted.output_count({{"count", int64_t{1} << 60}}), kMostOutputs + 2);
  EXPECT_EQ(flagged.output_count({}), 1u);
  EXPECT_EQ(flagged.output_count({{"total", true}}), 3u);
}

TEST(Registry, OutputsFollowFromConstantsOnly) {
  EXPECT_TRUE(detail::outputs_follow_from_constants(parts_for("names", "total")));
  EXPECT_TRUE(detail::outputs_follow_from_constants(parts_for("sizes")));
  EXPECT_TRUE(detail::outputs_follow_from_constants(parts_for("count")));
  for (const char* wrong : {"sample", "total", "other"})
    EXPECT_FALSE(detail::outputs_follow_from_constants(parts_for(wrong))) << wrong;
  EXPECT_FALSE(detail::outputs_follow_from_constants(parts_for("names", "count")));
  for (const char* when : {"total", "count!=4"})
    EXPECT_TRUE(detail::outputs_follow_from_constants(
        describe("parts", "", ports(), ports({.name = "part", .when = when}), kParts)))
        << when;
  for (const char* when : {"count", "total!=4", "sample!=4"})
    EXPECT_FALSE(detail::outputs_follow_from_constants(
        describe("parts", "", ports(), ports({.name = "part", .when = when}), kParts)))
        << when;
  constexpr auto first_of_two = describe(
      "parts", "", ports(), ports({.name = "part", .for_each = "count"}, {.name = "all"}), kParts);
  EXPECT_FALSE(detail::outputs_follow_from_constants(first_of_two));
}

TEST(Registry, ComputedArgumentsGoToACopy) {
  const OperatorType& flip = operator_named("flip");
  const auto op = flip.make({{"horizontal", int64_t{0}}});
  const std::unique_ptr<Operator> copy = op->clone();
  int32_t one = 1, five = 5;
  const size_t horizontal = static_cast<size_t>(flip.argument("horizontal"));
  copy->set(horizontal, View::dense(&one, DType::kInt32, {}));
  const TensorType in{DType::kUint8, "HW", {2, 3}};
  const auto step = [&](const Operator& o) {
    std::vector<Block> blocks;
    std::vector<View> made;
    Arena arena;
    Lowering l(in, {}, Chance(1, 1, 0, 0), blocks, made, arena);
    flip.lowers->lower(o, l);
    return std::get<Gather>(blocks.at(0).kind).axis[1].step;
  };
  EXPECT_EQ(step(*copy), -1);
  EXPECT_EQ(step(*op), 1);
  try {
    copy->set(horizontal, View::dense(&five, DType::kInt32, {}));
    FAIL();
  } catch (const SampleError& e) {
    EXPECT_STREQ(e.what(), "argument 'horizontal' is 5, expected 0 to 1");
  }
}

struct Long {
  Small<int> keys;
  float scale = 1;
  static constexpr auto schema =
      describe("long", "", ports(), ports({.name = "where"}), arg(&Long::keys, "keys", ""),
               arg(&Long::scale, "scale", "", kPerSample));
  void check(Checker&) const {}
  void infer(Inference&) const {}
  void run_cpu(Run& r) const { *r.outputs[0].as<const int*>() = keys.data(); }
};

const int* keys_of(const OperatorType& type, const Operator& op) {
  const int* keys = nullptr;
  View out = View::dense(&keys, DType::kInt64, {});
  Arena arena;
  const Kept kept;
  Run r{{}, {&out, 1}, Chance(1, 1, 0, 0), arena, kept};
  type.runs->run(op, r);
  return keys;
}

TEST(Registry, CopiesShareLongLists) {
  const OperatorType type = type_of<Long>();
  const auto op = type.make({{"keys", std::vector<int64_t>(65536, 7)}});
  const std::unique_ptr<Operator> copy = op->clone();
  float two = 2;
  copy->set(1, View::dense(&two, DType::kFloat32, {}));
  const int* keys = keys_of(type, *op);
  EXPECT_EQ(keys[65535], 7);
  EXPECT_EQ(keys_of(type, *copy), keys);
}

struct ByFrame {
  int value = 0;
};
constexpr auto of_any_layout =
    describe("a", "", ports({.name = "x"}), ports(), arg(&ByFrame::value, "value", "", kPerFrame));
constexpr auto of_pictures = describe("b", "", ports({.name = "x", .layouts = "HWC"}), ports(),
                                      arg(&ByFrame::value, "value", "", kPerFrame));
constexpr auto of_any_frames = describe("d", "", ports({.name = "x", .unfolds = true}), ports(),
                                        arg(&ByFrame::value, "value", "", kPerFrame));
constexpr auto by_sample =
    describe("c", "", ports({.name = "x"}), ports(), arg(&ByFrame::value, "value", "", kPerSample));

TEST(Registry, ArgumentsByFrameNeedSequencesThatUnfold) {
  EXPECT_FALSE(detail::frames_unfold(of_any_layout));
  EXPECT_TRUE(detail::frames_unfold(of_pictures));
  EXPECT_TRUE(detail::frames_unfold(of_any_frames));
  EXPECT_TRUE(detail::frames_unfold(by_sample));
}

TEST(Registry, NamesOfInputsAndArgumentsMustDiffer) {
  constexpr auto twice =
      describe("x", "", ports({.name = "a"}, {.name = "a"}), ports({.name = "a"}));
  constexpr auto once =
      describe("x", "", ports({.name = "a"}, {.name = "b"}), ports({.name = "a"}));
  EXPECT_FALSE(detail::names_differ(twice));
  EXPECT_TRUE(detail::names_differ(once));
}

TEST(Registry, PortsAcceptWhatTheyList) {
  const Port port{.layouts = "HWC, CHW", .dtypes = "uint8, float32"};
  EXPECT_TRUE(accepts(port, Layout("CHW")));
  EXPECT_FALSE(accepts(port, Layout("HW")));
  EXPECT_TRUE(accepts(port, DType::kFloat32));
  EXPECT_FALSE(accepts(port, DType::kFloat16));
  EXPECT_TRUE(accepts(Port{}, Layout("XYZ")));
  EXPECT_EQ(default_layout(port, 3), Layout("HWC"));
  EXPECT_EQ(default_layout(port, 2), Layout());
  EXPECT_EQ(default_layout_of_frames(port, 4), Layout("FHWC"));
  EXPECT_EQ(default_layout_of_frames(port, 3), Layout());
}

}  // namespace
}  // namespace stoker
