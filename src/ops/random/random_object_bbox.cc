// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <numeric>

#include "kernels/elements/boxes.h"
#include "kernels/statistics/objects.h"
#include "op/output_names.h"
#include "op/type_of.h"

namespace stoker {

enum class BoxFormat : uint8_t { kAnchorShape, kStartEnd, kBox };
template <>
struct EnumNames<BoxFormat> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"anchor_shape", "start_end", "box"};
};

}  // namespace stoker

namespace stoker::ops::random {

struct RandomObjectBbox {
  int background = 0;
  std::optional<Small<float>> class_weights;
  std::optional<Small<int>> classes;
  float foreground_prob = 1;
  BoxFormat format = BoxFormat::kAnchorShape;
  bool ignore_class = false, output_class = false;
  std::optional<int> k_largest;
  std::optional<Small<int>> threshold;

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr bool kRandom = true;
  static constexpr const char* kIgnored[] = {"cache_objects"};
  static constexpr auto schema = describe(
      "segmentation.random_object_bbox",
      "Draws the bounding box of an object in a map of labels.\n\n"
      "An object is what is connected along the axes and has one label that is not the background. "
      "First a class is drawn, then one of its objects. Where there is none to be drawn, the box "
      "is the whole map and the class the background. Numbers are int32.",
      ports({.name = "input",
             .help = "Labels, of one axis or more.",
             .dtypes = "uint8, int8, uint16, int16, uint32, int32, bool"}),
      ports({.name = "box",
             .help = "With format='box', the start along all axes, and behind it the end. Else the "
                     "start alone."},
            {.name = "extent", .help = "The shape, or with format='start_end' the end."},
            {.name = "class_id", .help = "The label of the object.", .when = "output_class"}),
      arg(&RandomObjectBbox::background, "background",
          "The label that is no object. At the default, it is less than all 'classes' if these "
          "have 0.",
          kPerSample),
      arg(&RandomObjectBbox::class_weights, "class_weights",
          "How likely each of the classes is, relative to the others. Without 'classes', these are "
          "the labels from 0 on without the background.",
          at_least(0), kPerSample),
      arg(&RandomObjectBbox::classes, "classes",
          "The labels to draw from. Default: all that the map has.", kPerSample),
      arg(&RandomObjectBbox::foreground_prob, "foreground_prob",
          "The probability that an object is drawn at all.", between(0, 1), kPerSample),
      arg(&RandomObjectBbox::format, "format", "What the outputs hold."),
      arg(&RandomObjectBbox::ignore_class, "ignore_class",
          "Whether all objects are equally likely, whatever their class. Excludes classes, "
          "class_weights and output_class."),
      arg(&RandomObjectBbox::k_largest, "k_largest",
          "How many objects of a class to draw from, those with the largest boxes.", at_least(1)),
      arg(&RandomObjectBbox::output_class, "output_class", "Whether to give the class."),
      arg(&RandomObjectBbox::threshold, "threshold",
          "Least extents of a box, one for each axis or one for all.", kPerSample));

  void check(Checker& c) const {
    const bool by_class =
        classes || class_weights || c.is_computed("classes") || c.is_computed("class_weights");
    require(!ignore_class || !(by_class || output_class),
            "argument 'ignore_class' excludes 'classes', 'class_weights' and 'output_class'");
    for (const TensorType& t : types(c.in().shape.rank)) c.out(t);
  }
  void infer(Inference& i) const {
    for (const TensorType& t : types(i.inputs[0].shape.rank)) i.out(t);
  }

  void run_cpu(Run& r) const {
    const View in = with_dense_rows(r.inputs[0], 0, r.scratch);
    const int rank = in.full.rank;
    Drawn d{Window::all(in.full), no_object()};
    if (r.chance.flip(static_cast<double>(foreground_prob)))
      with_type(in.dtype, [&](auto v) { draw(in, v, r.chance, d, r.scratch); });
    int32_t numbers[2 * kMaxRank];
    for (int a = 0; a < rank; ++a) {
      numbers[a] = static_cast<int32_t>(d.box.begin[a]);
      const bool is_shape = format == BoxFormat::kAnchorShape;
      numbers[rank + a] = static_cast<int32_t>(d.box.end[a] - (is_shape ? d.box.begin[a] : 0));
    }
    const bool is_box = format == BoxFormat::kBox;
    copy_window(View::dense(numbers, DType::kInt32, {is_box ? 2 * rank : rank}), r.outputs[0]);
    if (!is_box) copy_window(View::dense(numbers + rank, DType::kInt32, {rank}), r.outputs[1]);
    if (output_class)
      copy_window(View::dense(&d.label, DType::kInt32, {}), r.outputs[is_box ? 1 : 2]);
  }

  static std::vector<Case> cases() {
    return {
        {"output_class=True",
         {"uint8 HW [[0, 0, 0, 0], [0, 3, 3, 0], [0, 0, 3, 0]]"},
         {"int32 [1, 1]", "int32 [2, 2]", "int32 3"}},
        {"classes=[2], format=\"box\"", {"int32 [1, 1, 2, 0, 2, 2, 2]"}, {"int32 [4, 7]"}},
        {"foreground_prob=0.0, format=\"start_end\"",
         {"bool [[True, False]]"},
         {"int32 [0, 0]", "int32 [1, 2]"}},
        {"ignore_class=True, threshold=2, k_largest=1",
         {"int16 [1, 0, 2, 2, 0, 3, 3, 3]"},
         {"int32 [5]", "int32 [3]"}},
    };
  }

 private:
  struct Drawn {
    Window box;
    int32_t label;
  };

  std::vector<TensorType> types(int rank) const {
    require(rank != 0, "the input is a scalar, expected labels of one axis or more");
    std::vector<TensorType> all;
    const bool is_box = format == BoxFormat::kBox;
    for (int k = 0; k < (is_box ? 1 : 2); ++k)
      all.push_back({DType::kInt32, {}, {rank < 0 ? -1 : is_box ? 2 * rank : rank}});
    if (output_class) all.push_back({DType::kInt32, {}, {}});
    return all;
  }
  int32_t no_object() const {
    if (background != 0 || !classes) return background;
    const auto has = [&](int label) {
      return std::find(classes->begin(), classes->end(), label) != classes->end();
    };
    if (!has(0)) return 0;
    const auto* least = std::min_element(classes->begin(), classes->end());
    if (*least > INT_MIN) return *least - 1;
    int free = INT_MAX;
    while (has(free)) --free;
    return free;
  }

  // The classes to draw from, which the map may lack, each with its weight.
  std::vector<std::pair<int64_t, double>> weighted(const std::vector<int64_t>& found) const {
    std::vector<std::pair<int64_t, double>> all;
    const int64_t none = no_object();
    if (classes) {
      if (class_weights)
        require_count("argument 'class_weights'", class_weights->size(),
                      {static_cast<int64_t>(classes->size())}, "as many as 'classes' has");
      for (size_t k = 0; k < classes->size(); ++k) {
        require((*classes)[k] != none, "argument 'classes' has the background, ", none);
        all.emplace_back((*classes)[k], class_weights ? (*class_weights)[k] : 1);
      }
    } else if (class_weights) {
      int64_t label = 0;
      for (float w : *class_weights) {
        if (label == none) ++label;
        all.emplace_back(label++, w);
      }
    } else {
      for (int64_t label : found)
        if (label != none) all.emplace_back(label, 1);
    }
    std::erase_if(all, [&](const auto& c) {
      return c.second <= 0 || !std::binary_search(found.begin(), found.end(), c.first);
    });
    return all;
  }

  std::vector<int64_t> large_enough(const ObjectBoxes& boxes) const {
    std::vector<int64_t> left(static_cast<size_t>(boxes.count));
    std::iota(left.begin(), left.end(), int64_t{0});
    if (threshold) {
      require_count("argument 'threshold'", threshold->size(), {1, boxes.rank},
                    "one for all axes or one for each");
      std::erase_if(left, [&](int64_t k) {
        const Shape s = boxes[k].shape();
        for (int a = 0; a < boxes.rank; ++a)
          if (s[a] < threshold->at_or_only(static_cast<size_t>(a))) return true;
        return false;
      });
    }
    if (!k_largest || static_cast<size_t>(*k_largest) >= left.size()) return left;
    std::sort(left.begin(), left.end(), [&](int64_t a, int64_t b) {
      const int64_t size = boxes[a].shape().volume(), other = boxes[b].shape().volume();
      return size != other ? size > other : a < b;
    });
    left.resize(static_cast<size_t>(*k_largest));
    return left;
  }

  template <class T>
  void draw(const View& in, T, Chance& chance, Drawn& d, Arena& scratch) const {
    if constexpr (sizeof(T) <= 4 && !std::is_floating_point_v<T> && !std::is_same_v<T, Half>) {
      using Label = std::conditional_t<std::is_same_v<T, Bool>, uint8_t, T>;
      const auto* labels = in.as<const Label>();
      if constexpr (std::is_same_v<T, Bool>) {  // any byte but 0 is true
        const int64_t n = in.full.volume();
        auto* bits = scratch.array<uint8_t>(static_cast<size_t>(n));
        for (int64_t k = 0; k < n; ++k) bits[k] = labels[k] != 0;
        labels = bits;
      }
      const auto pick = [&](const auto& wanted, int64_t label) {
        const ObjectBoxes boxes = object_boxes(labels, in.full, wanted, scratch);
        const bool all = !threshold && !k_largest;
        const auto some = all ? std::vector<int64_t>() : large_enough(boxes);
        const int64_t count = all ? boxes.count : static_cast<int64_t>(some.size());
        if (count == 0) return false;
        require(!output_class || label <= INT32_MAX, "an object has the label ", label,
                ", which int32 cannot hold");
        const int64_t k = chance.uniform_int(count);
        d = {boxes[all ? k : some[static_cast<size_t>(k)]], static_cast<int32_t>(label)};
        return true;
      };
      const int64_t none = no_object();
      if (ignore_class) {
        pick([=](Label v) { return int64_t{v} != none; }, none);
        return;
      }
      auto left = weighted(labels_of(labels, in.full.volume()));
      while (!left.empty()) {
        double sum = 0;
        for (const auto& c : left) sum += c.second;
        double share = chance.uniform() * sum;
        size_t k = 0;
        while (k + 1 < left.size() && share >= left[k].second) share -= left[k++].second;
        const int64_t label = left[k].first;
        const auto own = static_cast<Label>(label);
        if (pick([=](Label v) { return v == own; }, label)) return;
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(k));
      }
    }
  }
};

}  // namespace stoker::ops::random

stoker::OperatorType STOKER_OPERATOR_SYMBOL() {
  return with_output_when(stoker::type_of<stoker::ops::random::RandomObjectBbox>(), 1,
                          "format!=box");
}
