// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/selection.h"

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

// The value; none where it is computed and not known yet.
std::optional<int64_t> value_of(const Selection::Number& n, const Small<int64_t>* computed) {
  if (n.place < 0) return n.value;
  if (!computed) return std::nullopt;
  require(static_cast<size_t>(n.place) < computed->size(), "argument 'indices' has ",
          computed->size(), computed->size() == 1 ? " value" : " values", ", $", n.place,
          " stands for one more");
  return (*computed)[static_cast<size_t>(n.place)];
}

// As Python's slice.indices: where a range begins, and how many positions it has.
struct Range {
  int64_t start = 0, step = 1, count = 0;
};
Range range_of(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step,
               int64_t extent) {
  require(step != 0, "a range expects a step other than 0");
  // Larger steps give the same.
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

Part Selection::find(const TensorType& in, const Small<int64_t>* computed) const {
  const int rank = in.shape.rank;
  Part p;
  p.type.dtype = in.dtype;
  p.full = in.shape;
  p.fixed = Shape::filled(std::max(rank, 0), 0);
  if (rank < 0) {
    p.type.shape.rank = -1;
    return p;
  }
  int own = 0;  // items that stand for an axis of the tensor
  bool has_rest = false;
  for (const Item& i : items) {
    own += i.kind == Kind::kNumber || i.kind == Kind::kRange;
    has_rest |= i.kind == Kind::kRest;
  }
  require(own <= rank, "the selection has ", own, " items, the tensor has ", rank,
          rank == 1 ? " axis" : " axes");
  std::string letters;
  int axis = 0;
  const auto keep = [&](int of, int64_t start, int64_t step, int64_t extent) {
    require(p.type.shape.rank < kMaxRank, "the part would have more than ", kMaxRank, " axes");
    p.axis[p.type.shape.rank] = {of, start, step};
    p.type.shape.push_back(extent);
    if (of >= 0 && !in.layout.empty()) letters += in.layout.str()[static_cast<size_t>(of)];
  };
  const auto keep_all = [&](int until) {
    for (; axis < until; ++axis) keep(axis, 0, 1, in.shape[axis]);
  };
  const auto known = [&](const std::optional<Number>& n) {
    return !n || value_of(*n, computed).has_value();
  };
  const auto of = [&](const std::optional<Number>& n) {
    return n ? value_of(*n, computed) : std::nullopt;
  };
  for (const Item& i : items) {
    const int64_t extent = axis < rank ? in.shape[axis] : 0;
    switch (i.kind) {
      case Kind::kNewAxis:
        keep(-1, 0, 0, 1);
        if (i.letter) letters += i.letter;
        break;
      case Kind::kRest: keep_all(axis + rank - own); break;
      case Kind::kNumber: {
        const std::optional<int64_t> at = value_of(i.number, computed);
        if (at && extent >= 0) {
          require(*at >= -extent && *at < extent, "index ", *at, " is out of range for axis ", axis,
                  ", which has ", extent, extent == 1 ? " position" : " positions");
          p.fixed[axis] = *at < 0 ? *at + extent : *at;
        }
        ++axis;
        break;
      }
      case Kind::kRange:
        if (extent < 0 || !known(i.begin) || !known(i.end) || !known(i.step)) {
          const bool is_whole = !i.begin && !i.end && !i.step;
          keep(axis, 0, 1, is_whole ? extent : -1);
        } else {
          const Range r = range_of(of(i.begin), of(i.end), of(i.step).value_or(1), extent);
          keep(axis, r.start, r.step, r.count);
        }
        ++axis;
        break;
    }
  }
  if (!has_rest) keep_all(rank);
  for (const Item& i : items)
    require(!i.letter || std::count(letters.begin(), letters.end(), i.letter) == 1,
            "argument 'selection' names a new axis ", i.letter, ", which there is already");
  if (std::ssize(letters) == p.type.shape.rank) p.type.layout = letters;  // all axes have one
  return p;
}

TensorType Selection::type(const TensorType& in, const Small<int64_t>* computed) const {
  // Fewer are refused where one of them is missing.
  require(!computed || computed->size() <= computed_count,
          "an index is one whole number for each sample, got ", computed ? computed->size() : 0,
          " for ", computed_count, "; masks and lists of indices are not taken");
  return find(in, computed).type;
}

bool Selection::keeps_axes() const {
  return std::all_of(items.begin(), items.end(),
                     [](const Item& i) { return i.kind == Kind::kRange || i.kind == Kind::kRest; });
}

Part Selection::part(const Shape& full, const Small<int64_t>& computed) const {
  return find({DType::kUint8, {}, full}, &computed);
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
