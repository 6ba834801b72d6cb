// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

#include <cstring>
#include <functional>
#include <numeric>

#include "files.h"
#include "kernels/convert.h"

namespace stoker::torture {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kOdd[] = {0,      -0.0,
                           1,      -1,
                           0.5,    1e-45,
                           1e-8,   -1e10,
                           3.4e38, 1e39,
                           65504,  65520,
                           32767,  -128,
                           255,    256,
                           65535,  2e9,
                           9.3e18, 1.9e19,
                           kInf,   -kInf,
                           1e-310, 1e300,
                           -1e300, std::numeric_limits<double>::quiet_NaN()};

double draw_number(Dice& dice, const Fed& f) {
  if (f.values == "odd") return dice.of(kOdd);
  if (f.whole) return std::floor(f.low) + std::floor(dice.share() * (f.high - f.low + 1));
  return f.low + dice.share() * (f.high - f.low);
}

template <class Next>
void for_each_element(const View& v, int axis, std::byte* at, const Next& next) {
  if (axis == v.shape.rank) return next(at);
  for (int64_t i = 0; i < v.shape[axis]; ++i)
    for_each_element(v, axis + 1, at + i * v.strides[axis], next);
}

void fill(const View& v, const Fed& f, Dice& dice) {
  for_each_element(v, 0, v.as<std::byte>(), [&](std::byte* at) {
    if (f.values == "bits" && f.dtype != DType::kBool) {
      const uint64_t bits = dice.bits();
      std::memcpy(at, &bits, static_cast<size_t>(size_of(f.dtype)));
      return;
    }
    const double x = f.values == "bits" ? static_cast<double>(dice.below(2)) : draw_number(dice, f);
    alignas(8) std::byte element[8];
    convert_row(&x, DType::kFloat64, element, f.dtype, 1);
    std::memcpy(at, element, static_cast<size_t>(size_of(f.dtype)));
  });
}

// How elements lie in memory: "dense"; "gaps" behind each; "backwards"; "same", all along the first
// axis are one; "shifted", at an odd address.
FedArray place(const Fed& f, const Shape& shape) {
  const int64_t element = size_of(f.dtype);
  View v = View::dense(nullptr, f.dtype, shape, f.layout);
  Shape room = shape;
  if (f.memory == "gaps")
    for (int a = 0; a < shape.rank; ++a) room[a] *= 2;
  v.strides = View::dense_strides(room, element);
  if (f.memory == "gaps")
    for (int a = 0; a < shape.rank; ++a) v.strides[a] *= 2;
  const bool shifted = f.memory == "shifted";
  auto owner = std::make_shared<std::vector<std::byte>>(
      static_cast<size_t>(room.volume() * element + shifted));
  std::byte* data = owner->data() + shifted;
  if (f.memory == "backwards" && shape.volume() > 0)
    for (int a = 0; a < shape.rank; ++a) {
      data += (shape[a] - 1) * v.strides[a];
      v.strides[a] = -v.strides[a];
    }
  if (f.memory == "same" && shape.rank > 0) v.strides[0] = 0;
  v.data = data;
  return {v, owner};
}

FedArray file_array(const MadeFile& file) {
  const std::vector<uint8_t> bytes = bytes_of(file);
  auto owner = std::make_shared<std::vector<std::byte>>(bytes.size());
  if (!bytes.empty()) std::memcpy(owner->data(), bytes.data(), bytes.size());
  return {View::dense(owner->data(), DType::kUint8, {static_cast<int64_t>(bytes.size())}), owner};
}

// Halves the longest axis until there are at most `most` elements.
void shrink_to(int64_t most, Small<int64_t>& shape) {
  const auto volume = [&] {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  };
  while (volume() > most) *std::max_element(shape.data(), shape.data() + shape.size()) /= 2;
}

}  // namespace

int64_t draw_extent(Dice& dice, char letter) {
  if (dice.often(0.04)) return 0;
  if (letter == 'C') return dice.of({1, 3, 3, 3, 3, 2, 4, 5});
  if (letter == 'F' || letter == 'D') return dice.between(1, 4);
  return dice.often(0.8) ? dice.between(1, 12) : dice.of({1, 16, 17, 31, 33, 64, 100});
}

DType draw_dtype(Dice& dice) {
  if (dice.often(0.5))
    return dice.of({DType::kUint8, DType::kUint8, DType::kFloat32, DType::kInt32});
  return static_cast<DType>(dice.below(static_cast<int64_t>(DType::kNone)));
}

Fed draw_fed(Dice& dice, DType dtype, Layout layout) {
  Fed f;
  f.dtype = dtype;
  f.layout = layout;
  const int64_t rank = layout.empty() ? dice.of({0, 1, 1, 1, 2, 2, 3, 4, 6}) : layout.rank();
  const char any = rank > 2 ? 'F' : '?';
  for (int a = 0; a < rank; ++a)
    f.shape.push_back(draw_extent(dice, layout.empty() ? any : layout.letters[a]));
  shrink_to(20000, f.shape);
  f.varies = dice.often(0.4);
  f.values = dice.of({"range", "range", "range", "bits", "odd"});
  f.high = static_cast<double>(dice.of({1, 9, 255}));
  if (info(dtype).is_float) f.whole = dice.often(0.3);
  f.memory = dice.of({"dense", "dense", "dense", "gaps", "backwards", "same", "shifted"});
  f.copy = f.memory != "dense" || dice.often(0.7);
  f.seed = dice.seed();
  return f;
}

FedArray make_array(const Fed& f, const std::vector<MadeFile>& files, int64_t number) {
  if (f.values == "files") return file_array(files[static_cast<size_t>(number) % files.size()]);
  Dice dice(mix(static_cast<uint64_t>(f.seed), static_cast<uint64_t>(number)));
  Shape shape;
  for (int64_t extent : f.shape)
    shape.push_back(f.varies && extent > 1 ? dice.between(1, extent) : extent);
  FedArray array = place(f, shape);
  fill(array.view, f, dice);
  return array;
}

}  // namespace stoker::torture
