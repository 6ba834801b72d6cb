// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Windows from the image decoders equal those of the whole picture, however a window is asked for.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/test_data.h"
#include "op/decode/tiny_jpeg.h"
#include "op/type_of.h"

namespace stoker {
namespace {

std::vector<uint8_t> tiny_jpeg() {
  std::vector<uint8_t> bytes;
  std::istringstream text(std::string(kTinyJpeg).substr(std::string(kTinyJpeg).find('[') + 1));
  for (int v = 0; text >> v; text.ignore(2)) bytes.push_back(static_cast<uint8_t>(v));
  return bytes;
}

// The tiny picture, and some photographs where the test data exists.
std::vector<std::vector<uint8_t>> pictures() {
  std::vector<std::vector<uint8_t>> all{tiny_jpeg()};
  const std::filesystem::path folder = test::test_data() / "coco_small/images";
  for (const char* name : {"0.jpeg", "10.jpeg", "21.jpeg"})
    if (std::ifstream f(folder / name, std::ios::binary); f)
      all.emplace_back(std::istreambuf_iterator<char>(f), std::istreambuf_iterator<char>());
  return all;
}

struct Decoded {
  TensorType type;
  std::vector<float> values;
};

// With a `part` above 0, asks only for the output from its middle on.
Decoded decode(const char* op, Arguments a, std::vector<uint8_t>& file, double part = 0) {
  a["dtype"] = std::string("float32");
  const OperatorType& type = operator_named(op);
  const auto decoder = type.make(a);
  const View encoded = View::dense(file.data(), DType::kUint8, {static_cast<int64_t>(file.size())});
  const TensorType in{DType::kUint8, {}, encoded.shape};
  std::vector<TensorType> types;
  const Chance chance(3, 4, 0, 5);
  Kept kept;
  Inference i{{&in, 1}, {&encoded, 1}, types, chance, kept};
  type.runs->infer(*decoder, i);
  Window w = Window::all(types.at(0).shape);
  for (int axis = 0; part > 0 && axis < 2; ++axis) w.begin[axis] = w.end[axis] / 2;
  Decoded d{types[0], std::vector<float>(static_cast<size_t>(w.shape().volume()))};
  View out = View::window(d.values.data(), DType::kFloat32, w, types[0].shape, types[0].layout);
  Arena arena;
  Run r{{&encoded, 1}, {&out, 1}, chance, arena, kept};
  type.runs->run(*decoder, r);
  d.type.shape = w.shape();
  return d;
}

std::vector<float> part_of(const Decoded& d, int64_t y, int64_t x, const Shape& shape) {
  std::vector<float> values;
  for (int64_t r = y; r < y + shape[0]; ++r) {
    const float* row = d.values.data() + (r * d.type.shape[1] + x) * shape[2];
    values.insert(values.end(), row, row + shape[1] * shape[2]);
  }
  return values;
}

TEST(Decoders, WindowsEqualTheWhole) {
  for (auto& file : pictures()) {
    const Decoded whole = decode("decoders.image", {}, file);
    const int64_t h = whole.type.shape[0], w = whole.type.shape[1];
    const Decoded part = decode("decoders.image", {}, file, 0.5);
    EXPECT_EQ(part.values, part_of(whole, h / 2, w / 2, part.type.shape));

    const int64_t ch = (h + 2) / 3, cw = (w + 2) / 3;
    const Arguments crop{
        {"crop", std::vector<int64_t>{ch, cw}}, {"crop_pos_x", 1.0}, {"crop_pos_y", 1.0}};
    const Decoded cropped = decode("decoders.image_crop", crop, file);
    EXPECT_EQ(cropped.type.shape, (Shape{ch, cw, 3}));
    EXPECT_EQ(cropped.values, part_of(whole, h - ch, w - cw, cropped.type.shape));
    const Decoded corner = decode("decoders.image_crop", crop, file, 0.5);
    EXPECT_EQ(corner.values, part_of(cropped, ch / 2, cw / 2, corner.type.shape));

    const Decoded random = decode("decoders.image_random_crop", {}, file);
    bool found = false;
    for (int64_t y = 0; !found && y + random.type.shape[0] <= h; ++y)
      for (int64_t x = 0; !found && x + random.type.shape[1] <= w; ++x)
        found = random.values[0] == whole.values[static_cast<size_t>((y * w + x) * 3)] &&
                random.values == part_of(whole, y, x, random.type.shape);
    EXPECT_TRUE(found) << random.type.str();
  }
}

TEST(Decoders, FailTheSampleOnly) {
  auto file = tiny_jpeg();
  EXPECT_THROW(decode("decoders.image_crop", {{"crop", std::vector<int64_t>{2, 2}}}, file),
               SampleError);
  std::vector<uint8_t> text{'h', 'e', 'l', 'l', 'o'};
  EXPECT_THROW(decode("decoders.image", {}, text), SampleError);
  file.resize(60);
  EXPECT_THROW(decode("decoders.image", {}, file), SampleError);
}

TEST(Decoders, RefuseWrongCalls) {
  const TensorType in{DType::kUint8, {}, {-1}}, flat{DType::kUint8, {}, {-1, 3}};
  const auto check = [](const char* op, const Arguments& a, const TensorType& t) {
    Checker c{{&t, 1}, {}, {}, {}};
    operator_named(op).make(a)->check(c);
    return c.outputs.at(0);
  };
  EXPECT_EQ(check("decoders.image", {}, in), (TensorType{DType::kUint8, "HWC", {-1, -1, 3}}));
  EXPECT_EQ(check("decoders.image_crop",
                  {{"crop", std::vector<int64_t>{5, 0}}, {"output_type", std::string("GRAY")}}, in),
            (TensorType{DType::kUint8, "HWC", {5, -1, 1}}));
  EXPECT_THROW(check("decoders.image", {}, flat), GraphError);
  EXPECT_THROW(check("decoders.image", {{"dtype", std::string("int64")}}, in), GraphError);
  EXPECT_THROW(check("decoders.image_crop", {{"crop", std::vector<int64_t>{5}}}, in), GraphError);
  EXPECT_THROW(
      check("decoders.image_random_crop", {{"random_area", std::vector<double>{0.5, 0.2}}}, in),
      GraphError);
}

}  // namespace
}  // namespace stoker
