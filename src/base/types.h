// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The words that everything else uses: element types, shapes, layouts, windows.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#ifdef __CUDACC__
#define STOKER_HD __host__ __device__
#else
#define STOKER_HD
#endif

namespace stoker {

inline constexpr int kMaxRank = 6;

enum class DType : uint8_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kUint64,
  kInt64,
  kFloat16,
  kFloat32,
  kFloat64,
  kBool,
  kNone,  // nothing has this type; for an optional argument it means "not given"
};

struct DTypeInfo {
  const char* name;  // as NumPy spells it
  int size;  // bytes
  bool is_float;
  bool is_signed;
};
inline constexpr DTypeInfo kDTypes[] = {
    {"uint8", 1, false, false},  {"int8", 1, false, true},    {"uint16", 2, false, false},
    {"int16", 2, false, true},   {"uint32", 4, false, false}, {"int32", 4, false, true},
    {"uint64", 8, false, false}, {"int64", 8, false, true},   {"float16", 2, true, true},
    {"float32", 4, true, true},  {"float64", 8, true, true},  {"bool", 1, false, false},
    {"none", 0, false, false},
};
constexpr const DTypeInfo& info(DType t) { return kDTypes[static_cast<int>(t)]; }
constexpr int size_of(DType t) { return info(t).size; }
constexpr const char* name_of(DType t) { return info(t).name; }
// kNone where no type has this name.
constexpr DType dtype_named(std::string_view name) {
  for (int i = 0; i < static_cast<int>(DType::kNone); ++i)
    if (name == kDTypes[i].name) return static_cast<DType>(i);
  return DType::kNone;
}

// Full intensity in pixels of type t: 1 for floats, else the largest value. Requires: t != kNone.
constexpr double full_intensity(DType t) {
  if (info(t).is_float || t == DType::kBool) return 1;
  return static_cast<double>(~uint64_t{0} >> (64 - 8 * size_of(t) + info(t).is_signed));
}

// Extents (or a position, or strides), outermost axis first. Trivially copyable, so that kernels
// take it by value.
struct Shape {
  int rank = 0;
  int64_t extent[kMaxRank] = {};

  Shape() = default;
  STOKER_HD Shape(std::initializer_list<int64_t> e) {
    for (int64_t x : e) extent[rank++] = x;
  }
  STOKER_HD static Shape filled(int rank, int64_t value) {
    Shape s;
    s.rank = rank;
    for (int i = 0; i < rank; ++i) s.extent[i] = value;
    return s;
  }
  STOKER_HD int64_t operator[](int axis) const { return extent[axis]; }
  STOKER_HD int64_t& operator[](int axis) { return extent[axis]; }
  STOKER_HD int64_t volume() const {
    int64_t v = 1;
    for (int i = 0; i < rank; ++i) v *= extent[i];
    return v;
  }
  STOKER_HD bool operator==(const Shape& o) const {
    if (rank != o.rank) return false;
    for (int i = 0; i < rank; ++i)
      if (extent[i] != o.extent[i]) return false;
    return true;
  }
  // True unless there are more than 2^40 elements, which no memory holds and whose size in bytes
  // might not fit into 64 bits. Unknown extents (-1) count as 1.
  bool is_possible() const {
    int64_t volume = 1;
    for (int i = 0; i < rank; ++i) {
      if (extent[i] > (int64_t{1} << 40) / volume) return false;
      volume *= std::max<int64_t>(extent[i], 1);
    }
    return true;
  }
  void push_back(int64_t e) { extent[rank++] = e; }  // Requires: rank < kMaxRank
  std::string str() const;  // "(375, 500, 3)"; an extent of -1 prints as "?"
};

// The meaning of each axis: F for frames, D, H and W for space, C for channels, f for frequency and
// t for time; case matters. At most kMaxRank letters; empty means unknown.
struct Layout {
  char letters[kMaxRank + 2] = {};

  constexpr Layout() = default;
  constexpr Layout(std::string_view s) {  // cuts longer texts, which check() refuses earlier
    for (size_t i = 0; i < s.size() && i < kMaxRank; ++i) letters[i] = s[i];
  }
  constexpr Layout(const char* s) : Layout(std::string_view(s)) {}
  Layout(const std::string& s) : Layout(std::string_view(s)) {}
  constexpr std::string_view str() const { return letters; }
  constexpr int rank() const { return static_cast<int>(str().size()); }
  constexpr bool empty() const { return letters[0] == 0; }
  // The axis of a letter, -1 when absent.
  constexpr int find(char c) const {
    size_t i = str().find(c);
    return i == std::string_view::npos ? -1 : static_cast<int>(i);
  }
  constexpr bool operator==(const Layout& o) const { return str() == o.str(); }
};

// A part of something larger: positions [begin, end) of each axis, in coordinates of the whole.
struct Window {
  Shape begin, end;

  static Window all(const Shape& full) { return {Shape::filled(full.rank, 0), full}; }
  Shape shape() const {
    Shape s = end;
    for (int a = 0; a < s.rank; ++a) s[a] -= begin[a];
    return s;
  }
  bool contains(const Window& o) const {
    for (int a = 0; a < end.rank; ++a)
      if (o.begin[a] < begin[a] || o.end[a] > end[a]) return false;
    return true;
  }
  // Grows to the bounding box of both.
  void include(const Window& o) {
    for (int a = 0; a < end.rank; ++a) {
      begin[a] = std::min(begin[a], o.begin[a]);
      end[a] = std::max(end[a], o.end[a]);
    }
  }
  bool operator==(const Window& o) const { return begin == o.begin && end == o.end; }
};

// What is known of a sample. While the graph is checked it describes an edge, and -1 stands for an
// extent that is not known yet.
struct TensorType {
  DType dtype = DType::kUint8;
  Layout layout;
  Shape shape;

  bool operator==(const TensorType& o) const {
    return dtype == o.dtype && layout == o.layout && shape == o.shape;
  }
  std::string str() const;  // "uint8 HWC (375, 500, 3)"
};

// The type of one frame of a sequence, whose layout has to begin with F, and the type of a sequence
// of such frames, whose layout begins with F if its rank is known.
TensorType frame_type(TensorType sequence);
TensorType sequence_type(const TensorType& frame, int64_t frames);

}  // namespace stoker
