// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/records/recordio.h"

#include "stores/testing.h"

namespace stoker::stores {
namespace {

TEST(Recordio, RecordsOfRealFiles) {
  const Expected expected("recordio");
  if (!expected.is_available()) GTEST_SKIP() << "without the data";
  int seen = 0, several = 0;
  for (const Json set : expected.json()["sets"].get_array()) {
    const std::string path = expected.path(text_of(set["file"].value()));
    const std::vector<uint8_t> file = read_file(path);
    const std::vector<RecordPlace> places = find_recordio(MemoryRanges(path, file));
    const std::string index = read_text(expected.path(text_of(set["index"].value())));
    EXPECT_EQ(parse_recordio_index(index, "index", static_cast<int64_t>(file.size())), places);
    size_t i = 0;
    std::vector<uint8_t> joined;
    for (const Json record : set["records"].get_array()) {
      ASSERT_LT(i, places.size());
      const ByteSpan payload =
          recordio_payload(part(file, places[i]), path, places[i].offset, joined);
      several += !joined.empty();
      ++i, ++seen;
      Json value;
      if (!record["record_sha256"].get(value)) {
        EXPECT_EQ(sha256(payload), text_of(value));
      }
      if (record["sha256"].get(value)) continue;
      const PictureRecord r = parse_picture_record(payload);
      EXPECT_EQ(sha256(r.picture), text_of(value));
      EXPECT_EQ(r.id, record["id"].get_uint64().value());
      simdjson::dom::array labels;
      if (record["label"].get(labels)) continue;
      size_t k = 0;
      for (const Json label : labels)
        EXPECT_EQ(number_at<float>(r.labels, 4 * k++),
                  static_cast<float>(label.get_double().value()));
      EXPECT_EQ(r.labels.size(), 4 * k);
    }
    EXPECT_EQ(i, places.size());
  }
  EXPECT_GT(seen, 100);
  EXPECT_GT(several, 5);
}

TEST(Recordio, DamagedFilesHaveGoodRecordsAndAnError) {
  const Expected expected("recordio");
  if (!expected.is_available()) GTEST_SKIP() << "without the data";
  int seen = 0;
  for (const Json damaged : expected.set("damaged")["damaged"].get_array()) {
    const std::string path = expected.path(text_of(damaged["file"].value()));
    SCOPED_TRACE(path);
    const std::vector<uint8_t> file = read_file(path);
    const std::string index = read_text(expected.path(text_of(damaged["index"].value())));
    for (const bool with_index : {false, true}) {
      const std::vector<RecordPlace> places =
          with_index ? parse_recordio_index(index, "index", static_cast<int64_t>(file.size()))
                     : find_recordio(MemoryRanges(path, file));
      int64_t good = 0, bad = 0;
      for (const RecordPlace p : places) {
        std::vector<uint8_t> joined;
        const std::string error =
            message<SampleError>([&] { recordio_payload(part(file, p), path, p.offset, joined); });
        if (error == "nothing was thrown") {
          ++good;
          continue;
        }
        EXPECT_TRUE(error.starts_with("'" + path + "' at byte ")) << error;
        ++bad;
      }
      EXPECT_GE(good, damaged["readable_records"].get_int64().value());
      EXPECT_EQ(bad, 1);
    }
    ++seen;
  }
  EXPECT_EQ(seen, 3);
}

TEST(Recordio, IndexesAreChecked) {
  EXPECT_EQ(parse_recordio_index("7\t10\n3\t0\n", "a", 30),
            (std::vector<RecordPlace>{{0, 10}, {10, 20}}));
  // A place behind the end is empty, so that reading it tells.
  EXPECT_EQ(parse_recordio_index("7\t10\n3\t50\n", "a", 30),
            (std::vector<RecordPlace>{{10, 20}, {50, 0}}));
  for (const char* wrong : {"x", "1", "1\tx", "1\t-1", "1\t2\t3"})
    EXPECT_EQ(message<SampleError>([&] { parse_recordio_index(wrong, "a.idx", 9); }),
              "'a.idx', line 1: expected the key and the offset of a record")
        << wrong;
  EXPECT_EQ(recordio_index(std::vector<RecordPlace>{{0, 8}, {8, 8}}), "0\t0\n1\t8\n");
}

TEST(Recordio, LabelsAreCounted) {
  std::vector<uint8_t> payload(28);
  payload[0] = 1;
  EXPECT_EQ(parse_picture_record(payload).labels.size(), 4U);
  payload[0] = 2;
  EXPECT_EQ(message<SampleError>([&] { parse_picture_record(payload); }),
            "the record has 2 labels, and 4 bytes are there");
  payload.resize(23);
  EXPECT_EQ(message<SampleError>([&] { parse_picture_record(payload); }),
            "a picture's record has a header of 24 bytes, and 23 are there");
}

}  // namespace
}  // namespace stoker::stores
