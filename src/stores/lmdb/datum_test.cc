// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/lmdb/datum.h"

#include "stores/lmdb/lmdb.h"
#include "stores/testing.h"

namespace stoker::stores {
namespace {

// The values of a database of real files.
std::vector<std::vector<uint8_t>> values(const std::string& path) {
  const std::vector<uint8_t> file = read_file(path);
  std::vector<RecordPlace> places;
  const int64_t page_size = find_lmdb_values(MemoryRanges(path, file),
                                             [&](ByteSpan, RecordPlace p) { places.push_back(p); });
  std::vector<std::vector<uint8_t>> all;
  for (const RecordPlace p : places) {
    const ByteSpan v = lmdb_value(part(file, p), p, page_size, path);
    all.emplace_back(v.begin(), v.end());
  }
  return all;
}

std::vector<int64_t> ints_of(Json list) {
  std::vector<int64_t> all;
  for (const Json v : list.get_array()) all.push_back(v.get_int64());
  return all;
}

TEST(Datum, OfRealDatabases) {
  const Expected expected("lmdb");
  if (!expected.is_available()) GTEST_SKIP() << "without the data";
  int seen = 0;
  for (const char* name : {"caffe_encoded", "caffe_part0", "caffe_part1", "caffe_raw"}) {
    const Json set = expected.set(name);
    const auto all = values(lmdb_file(expected.path(name)));
    size_t i = 0;
    for (const Json record : set["records"].get_array()) {
      const Datum d = parse_datum(all.at(i++));
      ++seen;
      EXPECT_EQ(d.has_label, !record["label"].is_null());
      if (d.has_label) {
        EXPECT_EQ(d.label, record["label"].get_int64().value());
      }
      EXPECT_EQ(d.encoded, record["encoded"].get_bool().value());
      Json value;
      if (!record["sha256"].get(value)) {
        EXPECT_EQ(sha256(d.data), text_of(value));
      }
      if (record["sha256_chw"].get(value)) continue;
      EXPECT_EQ(sha256(d.data), text_of(value));
      EXPECT_EQ(d.shape(), ints_of(record["shape_chw"]));
    }
    EXPECT_EQ(i, all.size());
  }
  EXPECT_GT(seen, 70);
}

TEST(Datum, TensorsOfRealDatabases) {
  const Expected expected("lmdb");
  if (!expected.is_available()) GTEST_SKIP() << "without the data";
  int seen = 0;
  for (const Json set : expected.json()["sets"].get_array()) {
    if (text_of(set["layout"].value()) != "caffe2") continue;
    const auto all = values(lmdb_file(expected.path(text_of(set["name"].value()))));
    size_t i = 0;
    for (const Json record : set["records"].get_array()) {
      SCOPED_TRACE(text_of(set["name"].value()) + " " + std::to_string(i));
      const std::vector<TensorProto> tensors = parse_tensor_protos(all.at(i++));
      ++seen;
      Json value;
      if (!record["sha256"].get(value)) {
        EXPECT_EQ(sha256(tensors.at(0).strings[0]), text_of(value));
      }
      if (!record["sha256_hwc"].get(value)) {
        EXPECT_EQ(sha256(tensors.at(0).bytes), text_of(value));
      }
      if (!record["shape_hwc"].get(value)) {
        EXPECT_EQ(tensors.at(0).shape(), ints_of(value));
      }
      if (!record["label"].get(value)) {
        EXPECT_EQ(tensors.at(1).ints, std::vector<int64_t>{value.get_int64().value()});
      }
      if (!record["labels_sparse"].get(value)) {
        EXPECT_EQ(tensors.at(1).ints, ints_of(value));
      }
      if (!record["bbox_int32"].get(value)) {
        EXPECT_EQ(tensors.back().ints, ints_of(value));
      }
      simdjson::dom::array floats;
      const char* member = record["weights"].get(floats) ? "label_dense" : "weights";
      if (!record[member].get(floats)) {
        const TensorProto& t = tensors.at(member == std::string("weights") ? 2 : 1);
        size_t k = 0;
        for (const Json v : floats)
          EXPECT_EQ(t.floats.at(k++), static_cast<float>(v.get_double().value()));
        EXPECT_EQ(t.floats.size(), k);
      }
      if (record["additional"].get(value)) continue;
      size_t k = 2;
      for (const Json extra : value.get_array()) {
        const TensorProto& t = tensors.at(k++);
        if (!extra["int64"].get(value)) {
          EXPECT_EQ(t.ints, ints_of(value));
        }
      }
    }
    EXPECT_EQ(i, all.size());
  }
  EXPECT_GT(seen, 90);
}

TEST(Datum, DamagedMessages) {
  const Expected expected("lmdb");
  if (!expected.is_available()) GTEST_SKIP() << "without the data";
  const auto all = values(lmdb_file(expected.path("damaged_message")));
  ASSERT_EQ(all.size(), 3U);
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(message<SampleError>([&] { parse_datum(all[i]); }),
              i == 1 ? "the record is no message of Protocol Buffers" : "nothing was thrown");
}

std::vector<uint8_t> field(uint8_t number, uint8_t value) {
  return {static_cast<uint8_t>(number << 3), value};
}
std::vector<uint8_t> joined(std::initializer_list<std::vector<uint8_t>> parts) {
  std::vector<uint8_t> all;
  for (const auto& p : parts) all.insert(all.end(), p.begin(), p.end());
  return all;
}

TEST(Datum, PixelsAreCounted) {
  const std::vector<uint8_t> size = joined({field(1, 1), field(2, 2), field(3, 1)});
  EXPECT_EQ(message<SampleError>([&] { parse_datum(size); }),
            "the Datum has 1 channels of 2 x 1 pixels, and 0 values");
  // Two floats that stand alone, as Caffe's tools write them.
  const std::vector<uint8_t> floats = {0x35, 0, 0, 0x80, 0x3f, 0x35, 0, 0, 0, 0x40};
  EXPECT_EQ(parse_datum(joined({size, floats})).floats, (std::vector<float>{1, 2}));
}

std::vector<uint8_t> bytes_field(uint8_t number, std::string_view bytes) {
  return joined({{static_cast<uint8_t>(number << 3 | 2), static_cast<uint8_t>(bytes.size())},
                 std::vector<uint8_t>(bytes.begin(), bytes.end())});
}

TEST(Datum, WhatIsNotThereHasNoValue) {
  const Datum d = parse_datum(joined({field(1, 1), field(2, 1), field(3, 1), bytes_field(4, "x")}));
  EXPECT_FALSE(d.has_label);
  EXPECT_TRUE(d.has_pixels);
  EXPECT_FALSE(parse_datum(field(5, 0)).has_pixels);
  EXPECT_TRUE(parse_datum(field(5, 0)).has_label);
}

TEST(Datum, MessagesOfOtherSchemasAreRefused) {
  const auto error = [](const std::vector<uint8_t>& value) {
    return message<SampleError>([&] { parse_datum(value); });
  };
  const std::string front =
      "the value is no Datum of Caffe, which has its data as bytes in field 4 and its label as a "
      "number in field 5; the fields here: ";
  EXPECT_EQ(error({}), front + "none");
  EXPECT_EQ(error(joined({bytes_field(1, "x"), field(2, 0), bytes_field(3, "")})),
            front + "1 (bytes), 2 (number), 3 (bytes)");
  EXPECT_EQ(error(joined({field(4, 1), field(5, 1)})), front + "4 (number), 5 (number)");
  EXPECT_EQ(error(joined({field(8, 1), bytes_field(9, "x")})), front + "8 (number), 9 (bytes)");
  const std::vector<uint8_t> tensors = bytes_field(1, "x");
  EXPECT_EQ(error(tensors), front + "1 (bytes)");
  EXPECT_EQ(message<SampleError>([&] { parse_tensor_protos(field(1, 3)); }),
            "the value is no TensorProtos of Caffe2, which has its tensors in field 1; the fields "
            "here: 1 (number)");
}

TEST(Datum, APictureWithoutExtentsIsEncoded) {
  constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n and so on";
  EXPECT_TRUE(parse_datum(joined({bytes_field(4, kPng), field(5, 3)})).encoded);
  EXPECT_EQ(message<SampleError>([&] { parse_datum(bytes_field(4, "what is this?")); }),
            "the Datum has 0 channels of 0 x 0 pixels, and 13 values");
  EXPECT_EQ(message<SampleError>([&] {
              parse_datum(joined({field(1, 3), field(2, 9), field(3, 9), bytes_field(4, kPng)}));
            }),
            "the Datum has 3 channels of 9 x 9 pixels, and 18 values, which are a PNG image: write "
            "it with encoded = true");
}

// Code that copies pixels takes floats where there are any, and has room for the shape only.
TEST(Datum, FloatsBesideBytesDoNotCount) {
  const std::vector<uint8_t> one = joined({field(1, 1), field(2, 1), field(3, 1)}),
                             byte = {0x22, 1, 7},
                             floats = {0x35, 0, 0, 0x80, 0x3f, 0x35, 0, 0, 0, 0x40};
  for (const auto& value : {joined({one, byte, floats}), joined({floats, byte, one})}) {
    const Datum d = parse_datum(value);
    EXPECT_EQ(d.data.size(), 1U);
    EXPECT_TRUE(d.floats.empty());
  }
}

TEST(Datum, ExtentsBesideAnEmptyOneAreBounded) {
  const std::vector<uint8_t> large = {0xff, 0xff, 0xff, 0xff, 0x07};  // 2^31 - 1
  const std::vector<uint8_t> value = joined({field(1, 0), {0x10}, large, {0x18}, large});
  EXPECT_EQ(message<SampleError>([&] { parse_datum(value); }),
            "the Datum has extents that are too large");
}

TEST(Datum, TensorsAreCounted) {
  const auto error = [](const std::vector<uint8_t>& tensor) {
    std::vector<uint8_t> all = {0x0a, static_cast<uint8_t>(tensor.size())};
    all.insert(all.end(), tensor.begin(), tensor.end());
    return message<SampleError>([&] { parse_tensor_protos(all); });
  };
  EXPECT_EQ(error(joined({field(2, 2), field(1, 3), field(4, 7)})),
            "a tensor is to have 3 values, and has 1");
  EXPECT_EQ(error(field(2, 11)), "a tensor has the unknown type 11");
  EXPECT_EQ(error(field(2, 4)), "a tensor holds 0 byte strings; expected one");
  EXPECT_EQ(error(joined({field(2, 2), field(4, 7)})), "nothing was thrown");
}

}  // namespace
}  // namespace stoker::stores
