// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/records/tfrecord.h"

#include "stores/records/example.h"
#include "stores/testing.h"

namespace stoker::stores {
namespace {

FeatureSpec wanted(const std::string& words) { return parse_feature_spec(words); }

std::vector<uint8_t> output(const FeatureSpec& spec, ByteSpan payload,
                            std::vector<int64_t>* sizes = nullptr) {
  const Example example(payload);
  const FeatureResult r = resolve(spec, example);
  std::vector<uint8_t> to(static_cast<size_t>(r.bytes) + 8);  // aligned to 8 by the heap
  std::vector<int64_t> lengths(r.strings.size());
  copy_result(spec, r, payload, to.data(), lengths.data());
  to.resize(static_cast<size_t>(r.bytes));
  if (sizes) *sizes = lengths;
  return to;
}
template <class T>
std::vector<T> numbers(const FeatureSpec& spec, ByteSpan payload) {
  const std::vector<uint8_t> bytes = output(spec, payload);
  std::vector<T> to(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
  return to;
}
std::vector<int64_t> shape(const FeatureSpec& spec, ByteSpan payload) {
  return resolve(spec, Example(payload)).shape;
}

TEST(Tfrecord, MaskedChecksum) {
  const std::vector<uint8_t> text = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  const uint32_t crc = 0xe3069283;  // as the checksum's definition lists it
  EXPECT_EQ(masked_crc32c(text), ((crc >> 15) | (crc << 17)) + 0xa282ead8U);
}

TEST(Tfrecord, RecordsOfRealFiles) {
  const Expected expected("tfrecord");
  if (!expected.is_available()) GTEST_SKIP() << "without the data";
  const FeatureSpec picture = wanted("fixed bytes - one - image/encoded");
  const FeatureSpec label = wanted("fixed int64 - one - image/class/label");
  int seen = 0;
  for (const Json set : expected.json()["sets"].get_array()) {
    const std::string name = text_of(set["name"].value());
    if (!set["compression"].is_null() || name == "sequence") continue;
    for (const Json shard : set["shards"].get_array()) {
      const std::string path = expected.path(text_of(shard["file"].value()));
      const std::vector<uint8_t> file = read_file(path);
      const std::vector<RecordPlace> places = find_tfrecords(MemoryRanges(path, file));
      const std::string index = read_text(expected.path(text_of(shard["index"].value())));
      EXPECT_EQ(parse_tfrecord_index(index, "index"), places);
      EXPECT_EQ(tfrecord_index(places), index);
      size_t i = 0;
      for (const Json record : shard["records"].get_array()) {
        ASSERT_LT(i, places.size());
        const ByteSpan payload =
            tfrecord_payload(part(file, places[i]), path, places[i].offset, true);
        Json value;
        if (!record["record_sha256"].get(value)) {
          EXPECT_EQ(sha256(payload), text_of(value));
        }
        if (!record["sha256"].get(value)) {
          EXPECT_EQ(sha256(output(picture, payload)), text_of(value));
        }
        int64_t number = 0;
        if (!record["label"].get(number)) {
          EXPECT_EQ(numbers<int64_t>(label, payload), std::vector{number});
        }
        ++i, ++seen;
      }
      EXPECT_EQ(i, places.size());
    }
  }
  EXPECT_GT(seen, 100);
}

TEST(Tfrecord, FeaturesOfRealFiles) {
  const Expected expected("tfrecord");
  if (!expected.is_available()) GTEST_SKIP() << "without the data";
  int seen = 0;
  for (const char* set : {"varlen", "unpacked"})
    for (const Json shard : expected.set(set)["shards"].get_array()) {
      const std::string path = expected.path(text_of(shard["file"].value()));
      const std::vector<uint8_t> file = read_file(path);
      const std::vector<RecordPlace> places = find_tfrecords(MemoryRanges(path, file));
      size_t i = 0;
      for (const Json record : shard["records"].get_array()) {
        const ByteSpan payload =
            tfrecord_payload(part(file, places[i]), path, places[i].offset, true);
        ++i;
        for (const auto feature : record["features"].get_object()) {
          ++seen;
          const std::string name(feature.key);
          SCOPED_TRACE(text_of(record["note"].value()) + ": " + name);
          const Json kind = feature.value["kind"];
          if (kind.is_null()) {
            EXPECT_EQ(shape(wanted("varying int64 - one - " + name), payload),
                      std::vector<int64_t>{0});
          } else if (text_of(kind) == "int64") {
            std::vector<int64_t> want;
            for (const Json v : feature.value["value"].get_array()) want.push_back(v.get_int64());
            EXPECT_EQ(numbers<int64_t>(wanted("varying int64 - one - " + name), payload), want);
          } else if (text_of(kind) == "float32") {
            std::vector<float> want;
            for (const Json v : feature.value["value"].get_array()) {
              double x = 0;
              if (v.is_string()) x = std::stod(text_of(v));
              else x = v.get_double();
              want.push_back(static_cast<float>(x));
            }
            const auto got = numbers<float>(wanted("varying float32 - one - " + name), payload);
            ASSERT_EQ(got.size(), want.size());
            for (size_t k = 0; k < got.size(); ++k)
              EXPECT_TRUE(got[k] == want[k] || (std::isnan(got[k]) && std::isnan(want[k]))) << k;
          } else {
            std::string want;
            std::vector<int64_t> want_sizes, sizes;
            for (const Json v : feature.value["hex"].get_array()) {
              const std::string digits = text_of(v);
              for (size_t k = 0; k < digits.size(); k += 2)
                want += static_cast<char>(std::stoi(digits.substr(k, 2), nullptr, 16));
              want_sizes.push_back(static_cast<int64_t>(digits.size() / 2));
            }
            EXPECT_EQ(text_of(output(wanted("fixed bytes - many - " + name), payload, &sizes)),
                      want);
            EXPECT_EQ(sizes, want_sizes);
          }
        }
      }
    }
  EXPECT_GT(seen, 40);
}

TEST(Tfrecord, SequencesOfRealFiles) {
  const Expected expected("tfrecord");
  if (!expected.is_available()) GTEST_SKIP() << "without the data";
  const Json shard = expected.set("sequence")["shards"].at(0);
  const std::string path = expected.path(text_of(shard["file"].value()));
  const std::vector<uint8_t> file = read_file(path);
  const std::vector<RecordPlace> places = find_tfrecords(MemoryRanges(path, file));
  size_t i = 0;
  for (const Json record : shard["records"].get_array()) {
    const ByteSpan payload = tfrecord_payload(part(file, places[i]), path, places[i].offset, true);
    ++i;
    const Example example(payload);
    SCOPED_TRACE(example.names());
    std::vector<int64_t> sizes;
    const std::vector<uint8_t> frames =
        output(wanted("sequence bytes - many - frames"), payload, &sizes);
    size_t at = 0, k = 0;
    for (const Json sha : record["frames_sha256"].get_array()) {
      ASSERT_LT(k, sizes.size());
      EXPECT_EQ(sha256(ByteSpan(frames).subspan(at, static_cast<size_t>(sizes[k]))), text_of(sha));
      at += static_cast<size_t>(sizes[k++]);
    }
    EXPECT_EQ(k, sizes.size());
    std::vector<float> times;
    for (const Json t : record["times"].get_array())
      times.push_back(static_cast<float>(t.get_double().value()));
    EXPECT_EQ(numbers<float>(wanted("sequence float32 - one - times"), payload), times);
    EXPECT_EQ(shape(wanted("sequence float32 1 one - times"), payload),
              (std::vector<int64_t>{static_cast<int64_t>(times.size()), 1}));
  }
  EXPECT_EQ(i, 3U);
}

TEST(Tfrecord, DamagedFilesHaveGoodRecordsAndAnError) {
  const Expected expected("tfrecord");
  if (!expected.is_available()) GTEST_SKIP() << "without the data";
  int seen = 0;
  for (const Json damaged : expected.set("damaged")["damaged"].get_array()) {
    const std::string path = expected.path(text_of(damaged["file"].value()));
    SCOPED_TRACE(path);
    const std::vector<uint8_t> file = read_file(path);
    int64_t good = 0, bad = 0;
    for (const RecordPlace p : find_tfrecords(MemoryRanges(path, file))) {
      const std::string error =
          message<SampleError>([&] { tfrecord_payload(part(file, p), path, p.offset, true); });
      if (error == "nothing was thrown") {
        ++good;
        continue;
      }
      EXPECT_TRUE(error.starts_with("'" + path + "' at byte ")) << error;
      ++bad;
    }
    const bool has_error = damaged["error"].get_bool();
    EXPECT_GE(good, damaged["readable_records"].get_int64().value());
    EXPECT_EQ(bad, has_error ? 1 : 0);
    ++seen;
  }
  EXPECT_GE(seen, 5);
}

TEST(Tfrecord, FramingIsChecked) {
  const auto error = [](const std::vector<uint8_t>& record) {
    return message<SampleError>([&] { tfrecord_payload(record, "a", 5, false); });
  };
  std::vector<uint8_t> record(20);
  record[0] = 4;
  const uint32_t sum = masked_crc32c(ByteSpan(record).first(8));
  std::memcpy(&record[8], &sum, sizeof sum);
  EXPECT_EQ(tfrecord_payload(record, "a", 5, false).size(), 4U);
  EXPECT_EQ(message<SampleError>([&] { tfrecord_payload(record, "a", 5, true); }),
            "'a' at byte 17: the payload of the record does not fit its checksum");
  EXPECT_EQ(error({}),
            "'a' at byte 5: a record has 16 bytes around its payload, and there are 0 in all");
  EXPECT_EQ(error(std::vector(record.begin(), record.end() - 1)),
            "'a' at byte 5: the record has 4 bytes and 16 around them, and 19 are there");
  record[0] = 5;
  EXPECT_EQ(error(record), "'a' at byte 5: the length of the record is damaged");
  const std::vector<uint8_t> picture = {0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(message<SampleError>([&] { tfrecord_payload(picture, "a.jpg", 0, false); }),
            "'a.jpg' at byte 0: the length of the record is damaged, unless this is no TFRecord: "
            "found a JPEG image");
}

TEST(Tfrecord, IndexesAreChecked) {
  const auto error = [](std::string_view text) {
    return message<SampleError>([&] { parse_tfrecord_index(text, "a.idx"); });
  };
  EXPECT_EQ(parse_tfrecord_index("0 16\r\n\n16 20", "a").size(), 2U);
  for (const char* wrong : {"x", "1", "1 x", "-1 5", "5 -1", "1 2 3", "1 99999999999999999999"})
    EXPECT_EQ(error(std::string("0 16\n") + wrong),
              "'a.idx', line 2: expected the offset and the size of a record")
        << wrong;
}

TEST(FeatureSpec, SaysWhatIsWrong) {
  const auto error = [](const std::string& text) {
    return message<GraphError>([&] { parse_feature_spec(text); });
  };
  for (const char* wrong :
       {"", "fixed", "other int64 - one - a", "fixed int8 - one - a", "fixed int64 2,x one - a",
        "fixed int64 - one x0 a", "fixed int64 - one x00 a",
        "fixed int64 1099511627776,16777216 one - a", "fixed int64 - many - a",
        "fixed int64 0,1099511627776,16777216 one - a"})
    EXPECT_TRUE(error(wrong).find("describes no feature") != std::string::npos) << wrong;
  EXPECT_TRUE(error("fixed bytes 2 one - a").find("BytesListFeature") != std::string::npos);
  EXPECT_TRUE(error("fixed float32 3 one x0000000000000000 a").find("2 values; expected 1 or 3") !=
              std::string::npos);
}

TEST(FeatureSpec, MissingFeaturesTakeDefaults) {
  const std::vector<uint8_t> none = {0x0a, 5, 0x0a, 3, 0x0a, 1, 'z'};  // but a feature 'z'
  EXPECT_EQ(numbers<int64_t>(wanted("fixed int64 - one xffffffffffffffff a"), none),
            std::vector<int64_t>{-1});
  EXPECT_EQ(numbers<float>(wanted("fixed float32 2 one x0000803f a"), none),
            (std::vector<float>{1, 1}));
  EXPECT_EQ(text_of(output(wanted("fixed bytes - one x6162 a b"), none)), "ab");
  EXPECT_EQ(text_of(output(wanted("fixed bytes - one x a"), none)), "");
  EXPECT_EQ(shape(wanted("varying int64 - one - a"), none), std::vector<int64_t>{0});
  EXPECT_EQ(message<SampleError>([&] { output(wanted("fixed int64 - one - a"), none); }),
            "feature 'a' is missing, and has no default; the features here: 'z'");
  EXPECT_EQ(message<SampleError>([&] { output(wanted("sequence int64 - one - a"), none); }),
            "feature 'a' is missing, and has no default; the features here: 'z'");
}

TEST(Example, MessagesOfOtherSchemasAreRefused) {
  const auto error = [](const std::vector<uint8_t>& payload) {
    return message<SampleError>([&] { Example e{payload}; });
  };
  const std::string front =
      "the record is no Example and no SequenceExample with features, which are in fields 1 and 2; "
      "the fields here: ";
  EXPECT_EQ(error({}), front + "none");
  EXPECT_EQ(error({0x08, 3, 0x10, 4, 0x22, 1, 'x'}), front + "1 (number), 2 (number), 4 (bytes)");
  EXPECT_EQ(error({0x0a, 2, 0x08, 3}), front + "1 (bytes)");
}

TEST(FeatureSpec, StepsAreNoFeatures) {
  const std::vector<uint8_t> plain = {0x0a, 5, 0x0a, 3, 0x0a, 1, 'z'},
                             steps = {0x12, 5, 0x0a, 3, 0x0a, 1, 'z'};
  EXPECT_EQ(message<SampleError>([&] { output(wanted("sequence int64 - one - z"), plain); }),
            "feature 'z' is no list of steps here: stoker.tfrecord.FixedLenFeature and "
            "VarLenFeature read it");
  for (const char* spec : {"fixed int64 - one xffffffffffffffff z", "varying int64 - one - z"})
    EXPECT_EQ(message<SampleError>([&] { output(wanted(spec), steps); }),
              "feature 'z' is a list of steps here: stoker.tfrecord.FixedLenSequenceFeature reads "
              "it");
}

}  // namespace
}  // namespace stoker::stores
