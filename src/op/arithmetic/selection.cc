// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/selection.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "op/rules.h"

namespace stoker {

namespace {

using Kind = Selection::Item::Kind;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t end; (end = text.find(at)) != std::string_view::npos; text.remove_prefix(end + 1))
    parts.push_back(trimmed(text.substr(0, end)));
  parts.push_back(trimmed(text));
  return parts;
}

std::optional<Selection::Number> number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  Selection::Number n;
  const bool is_computed = text.front() == '$';
  const std::string_view digits = is_computed ? text.substr(1) : text;
  const char *first = digits.data(), *last = first + digits.size();
  const auto [end, error] =
      is_computed ? std::from_chars(first, last, n.place) : std::from_chars(first, last, n.value);
  require(error == std::errc() && end == last && (!is_computed || n.place >= 0),
          "argument 'selection' expects a whole number or one such as $0, got ", text);
  return n;
}

Selection::Item item(std::string_view text) {
  Selection::Item i;
  if (text == "...") {
    i.kind = Kind::kRest;
  } else if (text.starts_with("newaxis")) {
    i.kind = Kind::kNewAxis;
    const std::string_view name = trimmed(text.substr(std::string_view("newaxis").size()));
    require(name.size() <= 1, "argument 'selection' expects a letter behind newaxis, got ", name);
    if (!name.empty()) i.letter = name[0];
  } else if (const auto parts = split(text, ':'); parts.size() > 1) {
    require(parts.size() <= 3, "argument 'selection' expects a range such as 1:-1:2, got ", text);
    i.begin = number(parts[0]);
    i.end = number(parts[1]);
    if (parts.size() == 3) i.step = number(parts[2]);
    require(!i.step || i.step->place >= 0 || i.step->value != 0,
            "argument 'selection' has the step 0 in ", text);
  } else {
    require(!text.empty(), "argument 'selection' has an empty item");
    i.kind = Kind::kNumber;
    i.number = *number(text);
  }
  return i;
}

// The value; none if it is computed and not known yet.
std::optional<int64_t> value_of(const Selection::Number& n, const Small<int64_t>* computed) {
  if (n.place < 0) return n.value;
  if (!computed) return std::nullopt;
  require(static_cast<size_t>(n.place) < computed->size(), "argument 'indices' has ",
          computed->size(), computed->size() == 1 ? " value" : " values", ", $", n.place,
          " stands for one more");
  return (*computed)[static_cast<size_t>(n.place)];
}

// Like Python's slice.indices: where a range begins, and how many positions it has.
struct Range {
  int64_t start = 0, step = 1, count = 0;
};
Range range_of(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step,
               int64_t extent) {
  require(step != 0, "a range expects a step other than 0");
  // Larger steps make no difference.
  step = std::clamp(step, -(int64_t{1} << 41), int64_t{1} << 41);
  const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? extent - 1 : extent;
  const auto cut = [&](int64_t p) {
    if (p < 0) p = p < -extent ? -1 - extent : p;
    return std::clamp(p < 0 ? p + extent : p, low, high);
  };
  const int64_t from = begin ? cut(*begin) : step < 0 ? high : low;
  const int64_t to = end ? cut(*end) : step < 0 ? low : high;
  const int64_t span = step < 0 ? from - to : to - from;
  const int64_t size = step < 0 ? -step : step;
  Range r{from, step, span > 0 ? (span + size - 1) / size : 0};
  if (r.count == 0) r.start = 0;
  if (r.count < 2) r.step = 1;
  return r;
}

class PartFinder {
 public:
  PartFinder(const Selection& s, const TensorType& in, const Small<int64_t>* computed)
      : items_(s.items), in_(in), computed_(computed), rank_(in.shape.rank) {
    part_.type.dtype = in.dtype;
    part_.full = in.shape;
    part_.fixed = Shape::filled(std::max(rank_, 0), 0);
  }

  Part find() {
    if (rank_ < 0) {
      part_.type.shape.rank = -1;
      return part_;
    }
    const auto own = static_cast<int>(std::ranges::count_if(items_, stands_for_axis));
    require(own <= rank_, "the selection has ", own, " items, the tensor has ", rank_,
            rank_ == 1 ? " axis" : " axes");
    for (const Selection::Item& i : items_) take(i, own);
    const bool has_rest = std::ranges::count(items_, Kind::kRest, &Selection::Item::kind) > 0;
    if (!has_rest) keep_all(rank_);
    name_axes();
    return part_;
  }

 private:
  static bool stands_for_axis(const Selection::Item& i) {
    return i.kind == Kind::kNumber || i.kind == Kind::kRange;
  }

  // `own`: how many items stand for an axis of the tensor.
  void take(const Selection::Item& i, int own) {
    switch (i.kind) {
      case Kind::kNewAxis:
        keep(-1, 0, 0, 1);
        if (i.letter) letters_ += i.letter;
        break;
      case Kind::kRest: keep_all(axis_ + rank_ - own); break;
      case Kind::kNumber: take_number(i.number); break;
      case Kind::kRange: take_range(i); break;
    }
  }

  void take_number(const Selection::Number& number) {
    const std::optional<int64_t> at = value_of(number, computed_);
    const int64_t extent = in_.shape[axis_];
    if (at && extent >= 0) {
      require(*at >= -extent && *at < extent, "index ", *at, " is out of range for axis ", axis_,
              ", which has ", extent, extent == 1 ? " position" : " positions");
      part_.fixed[axis_] = *at < 0 ? *at + extent : *at;
    }
    ++axis_;
  }

  void take_range(const Selection::Item& i) {
    const int64_t extent = in_.shape[axis_];
    if (extent < 0 || !known(i.begin) || !known(i.end) || !known(i.step)) {
      const bool is_whole = !i.begin && !i.end && !i.step;
      keep(axis_, 0, 1, is_whole ? extent : -1);
    } else {
      const Range r = range_of(limit(i.begin), limit(i.end), limit(i.step).value_or(1), extent);
      keep(axis_, r.start, r.step, r.count);
    }
    ++axis_;
  }
  std::optional<int64_t> limit(const std::optional<Selection::Number>& n) const {
    return n ? value_of(*n, computed_) : std::nullopt;
  }
  bool known(const std::optional<Selection::Number>& n) const { return !n || limit(n); }

  // Adds an axis to the part, made of the tensor's axis `of`; -1: a new one.
  void keep(int of, int64_t start, int64_t step, int64_t extent) {
    Shape& shape = part_.type.shape;
    require(shape.rank < kMaxRank, "the part would have more than ", kMaxRank, " axes");
    part_.axis[shape.rank] = {of, start, step};
    shape.push_back(extent);
    if (of >= 0 && !in_.layout.empty()) letters_ += in_.layout.str()[static_cast<size_t>(of)];
  }
  void keep_all(int until) {
    for (; axis_ < until; ++axis_) keep(axis_, 0, 1, in_.shape[axis_]);
  }

  // The part has a layout if all its axes have a letter.
  void name_axes() {
    for (const Selection::Item& i : items_)
      require(!i.letter || std::count(letters_.begin(), letters_.end(), i.letter) == 1,
              "argument 'selection' names a new axis ", i.letter, ", which there is already");
    if (std::ssize(letters_) == part_.type.shape.rank) part_.type.layout = letters_;
  }

  const std::vector<Selection::Item>& items_;
  const TensorType& in_;
  const Small<int64_t>* computed_;
  int rank_;
  Part part_;
  int axis_ = 0;  // of the tensor, that comes next
  std::string letters_;
};

}  // namespace

Selection Selection::read(const std::string& text) {
  require(text.size() <= kMostText, "argument 'selection' has ", text.size(),
          " characters, expected ", kMostText, " at most");
  Selection s;
  int rests = 0;
  for (const std::string_view part : split(text, ',')) {
    s.items.push_back(item(part));
    rests += s.items.back().kind == Kind::kRest;
  }
  require(rests <= 1, "argument 'selection' has ... more than once");
  for (const Selection::Item& i : s.items)
    for (const std::optional<Selection::Number>& n :
         {std::optional(i.number), i.begin, i.end, i.step})
      if (n) s.computed_count = std::max(s.computed_count, static_cast<size_t>(n->place + 1));
  return s;
}

TensorType Selection::type(const TensorType& in, const Small<int64_t>* computed) const {
  // Whoever needs one that is missing refuses that.
  require(!computed || computed->size() <= computed_count,
          "an index is one whole number for each sample, got ", computed ? computed->size() : 0,
          " for ", computed_count, "; masks and lists of indices are not taken");
  return PartFinder(*this, in, computed).find().type;
}

bool Selection::keeps_axes() const {
  return std::all_of(items.begin(), items.end(),
                     [](const Item& i) { return i.kind == Kind::kRange || i.kind == Kind::kRest; });
}

Part Selection::part(const Shape& full, const Small<int64_t>& computed) const {
  return PartFinder(*this, {DType::kUint8, {}, full}, &computed).find();
}

Window Part::needed(const Window& wanted) const {
  Window w{fixed, fixed};
  for (int a = 0; a < w.end.rank; ++a) w.end[a] = full[a] > 0 ? fixed[a] + 1 : 0;
  for (int a = 0; a < type.shape.rank; ++a) {
    const Axis& x = axis[a];
    if (x.of < 0) continue;
    if (wanted.begin[a] >= wanted.end[a]) {
      w.begin[x.of] = w.end[x.of] = 0;
      continue;
    }
    const int64_t first = x.start + x.step * wanted.begin[a];
    const int64_t last = x.start + x.step * (wanted.end[a] - 1);
    w.begin[x.of] = std::min(first, last);
    w.end[x.of] = std::max(first, last) + 1;
  }
  return w;
}

View Part::seen(const View& tensor, const View& out) const {
  View v = out;
  v.strides = Shape::filled(out.shape.rank, 0);
  int64_t offset = 0;
  for (int b = 0; b < full.rank; ++b) offset += (fixed[b] - tensor.origin[b]) * tensor.strides[b];
  for (int a = 0; a < out.shape.rank; ++a) {
    const Axis& x = axis[a];
    if (x.of < 0) continue;
    v.strides[a] = x.step * tensor.strides[x.of];
    offset += (x.start + x.step * out.origin[a]) * tensor.strides[x.of];
  }
  v.data = static_cast<std::byte*>(tensor.data) + offset;
  return v;
}

}  // namespace stoker
