// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/annotations/coco.h"

#include "io/crc32c.h"
#include "stores/annotations/masks.h"
#include "stores/testing.h"

namespace stoker::stores {
namespace {

std::string error_of(const std::string& json, const CocoOptions& options = {}) {
  return message<GraphError>([&] { CocoSet(json, "a.json", options); });
}

const char* const kSmall = R"({"images": [
  {"id": 9, "file_name": "b.jpg", "width": 4, "height": 3, "license": 1},
  {"id": 2, "file_name": "a.jpg", "width": 5, "height": 2},
  {"id": 4, "file_name": "c.jpg", "width": 1, "height": 1}],
 "categories": [{"id": 90, "name": "x"}, {"id": 7}],
 "annotations": [
  {"image_id": 2, "category_id": 7, "bbox": [1, 0.5, 2, 1], "iscrowd": 0, "id": 1,
   "segmentation": [[0, 0, 2, 0, 2, 2], [3, 0, 4, 0, 4, 1, 3, 1]]},
  {"image_id": 9, "category_id": 90, "bbox": [0, 0, 0.05, 3], "iscrowd": 0},
  {"image_id": 9, "category_id": 90, "bbox": [0, 0, 4, 3], "iscrowd": 1,
   "segmentation": {"size": [3, 4], "counts": [1, 2, 9]}},
  {"segmentation": {"counts": "435", "size": [3, 4]}, "image_id": 9, "category_id": 7,
   "bbox": [1, 1, 1, 1]}]})";

TEST(Coco, PicturesByIdWithTheirBoxes) {
  const CocoSet set(kSmall, "a.json", {.size_threshold = 0.1});
  ASSERT_EQ(set.size(), 3);
  EXPECT_EQ(set.file_name(0) + set.file_name(1) + set.file_name(2), "a.jpgc.jpgb.jpg");
  EXPECT_EQ(set.image_id(2), 9);
  EXPECT_EQ(set.boxes(0), 1);
  EXPECT_EQ(set.boxes(1), 0);
  EXPECT_EQ(set.boxes(2), 2);  // one is too small
  EXPECT_EQ(set.label(0, 0), 2);
  EXPECT_EQ(set.label(2, 0), 1);
  EXPECT_EQ(set.box(0, 0).y, 0.5F);
}

TEST(Coco, ByteOrderMark) {
  const std::string marked = std::string(kByteOrderMark) + kSmall;
  EXPECT_EQ(CocoSet(marked, "a", {}).fingerprint(), CocoSet(kSmall, "a", {}).fingerprint());
  EXPECT_EQ(error_of(std::string(kByteOrderMark) + R"({"images": 3})"),
            "'a.json' at byte 14: 'images' is 3, expected a list");
}

TEST(Coco, Options) {
  EXPECT_EQ(CocoSet(kSmall, "a", {}).boxes(2), 3);
  EXPECT_EQ(CocoSet(kSmall, "a", {.include_iscrowd = false}).boxes(2), 2);
  EXPECT_EQ(CocoSet(kSmall, "a", {.skip_empty = true}).size(), 2);
  EXPECT_EQ(CocoSet(kSmall, "a", {.remap_classes = false}).label(0, 0), 7);
  const CocoSet listed(kSmall, "a",
                       {.images = std::vector<std::string>{"b.jpg", "a.jpg", "b.jpg"}});
  ASSERT_EQ(listed.size(), 3);
  EXPECT_EQ(listed.image_id(0), 9);
  EXPECT_EQ(listed.image_id(1), 2);
  EXPECT_EQ(listed.image_id(2), 9);
  EXPECT_EQ(error_of(kSmall, {.images = std::vector<std::string>{"z"}}),
            "argument 'images' has 1 of 1 names that 'a.json' does not list, the first of them "
            "'z'");
  const CocoSet rest(kSmall, "a", {.images = std::vector<std::string>{"z", "a.jpg", "y"}});
  EXPECT_EQ(rest.size(), 1);
  EXPECT_EQ(rest.warning(),
            "argument 'images' has 2 of 3 names that 'a' does not list, the first of them 'z': "
            "they are left out");
}

TEST(Coco, Polygons) {
  const CocoSet set(kSmall, "a", {.masks = true});
  const std::vector<CocoSet::Polygon> table = set.polygons(0);
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[1].object, 0);
  EXPECT_EQ(table[1].first, 3);
  EXPECT_EQ(table[1].last, 7);
  EXPECT_EQ(set.corners(0).size(), 14U);
  EXPECT_TRUE(set.polygons(2).empty());
}

TEST(Coco, Masks) {
  const CocoSet set(kSmall, "a", {.masks = true});
  std::vector<int32_t> rows(12);
  set.paint_masks(2, 3, 4, rows);
  // Down the columns: the runs 1, 2, 9 of label 1, and "435", the runs 4, 3, 5, of label 2.
  EXPECT_EQ(rows, (std::vector<int32_t>{0, 0, 2, 0, 1, 2, 0, 0, 1, 2, 0, 0}));
  EXPECT_EQ(parse_run_lengths("121"), (RunLengths{1, 2, 1}));
  EXPECT_EQ(message<SampleError>([] { parse_run_lengths("R"); }),
            "the compressed run lengths of a mask are damaged at character 0");
  EXPECT_EQ(message<SampleError>([] { parse_run_lengths("O"); }),
            "the compressed run lengths of a mask have a run of -1 pixels");
}

TEST(Coco, PreprocessedIsTheSame) {
  for (const CocoOptions& options :
       {CocoOptions{}, CocoOptions{.masks = true, .size_threshold = 0.1, .skip_empty = true}}) {
    const CocoSet set(kSmall, "a", options);
    const std::string bytes = CocoSet::preprocess(kSmall, "a");
    const CocoSet again = CocoSet::from_preprocessed(bytes, "a", options);
    EXPECT_EQ(set.fingerprint(), again.fingerprint());
    EXPECT_EQ(set.corners(0), again.corners(0));
    for (const size_t at : {size_t{5}, size_t{30}, bytes.size() - 1}) {
      std::string wrong = bytes;
      wrong[at] = static_cast<char>(wrong[at] ^ 1);
      EXPECT_TRUE(message<GraphError>([&] {
                    CocoSet::from_preprocessed(wrong, "a", options);
                  }).find("are damaged") != std::string::npos);
    }
  }
}

// A small file could hold masks without end if all annotations had the same one.
TEST(Coco, PreprocessedMasksHaveNothingInCommon) {
  std::string bytes = CocoSet::preprocess(kSmall, "a");
  constexpr size_t kSum = sizeof("stoker's annotations 2\n") - 1 + 7 * 8, kImages = 3,
                   kAnnotations = kSum + 4 + kImages * 64, kAnnotation = 128, kForm = 48;
  std::copy_n(&bytes[kAnnotations + kForm], kAnnotation - kForm,
              &bytes[kAnnotations + kAnnotation + kForm]);
  const uint32_t sum = io::crc32c(bytes_of(std::string_view(bytes).substr(kSum + 4)));
  std::memcpy(&bytes[kSum], &sum, sizeof sum);
  EXPECT_TRUE(message<GraphError>([&] {
                CocoSet::from_preprocessed(bytes, "a", {});
              }).find("are damaged") != std::string::npos);
}

TEST(Coco, WrongFilesAreRefused) {
  EXPECT_EQ(error_of(""), "'a.json': this is no JSON");
  EXPECT_TRUE(error_of(R"({"images": [)").find("this is no JSON") != std::string::npos);
  EXPECT_EQ(error_of("{}"), "'a.json' has no 'images': it does not hold annotations of COCO");
  EXPECT_EQ(error_of("0.jpeg 0\n1.jpeg 1\n"),
            "'a.json': expected an object of JSON, found text that begins with \"0.jpeg 0?1.jpeg "
            "1?\"");
  EXPECT_TRUE(error_of(R"({"images": 3})").ends_with("'images' is 3, expected a list"));
  EXPECT_TRUE(error_of(R"({"images": [null]})").ends_with("'images' holds null, expected objects"));
  EXPECT_TRUE(
      error_of(R"({"images": [{"id": 1}]})").ends_with("'file_name' is missing in image 1"));
  EXPECT_TRUE(error_of(R"({"images": [{"id": 1, "file_name": 5}]})")
                  .ends_with("'file_name' is 5, expected a text"));
  EXPECT_TRUE(error_of(R"({"images": [], "annotations": [], "categories": [{"id": null}]})")
                  .ends_with("'id' is null, expected a whole number"));
}

CocoSet set_with(const std::string& members, const CocoOptions& options = {.masks = true}) {
  return CocoSet(R"({"categories": [{"id": 1}], "images": [{"id": 1, "file_name": "a"}],
                     "annotations": [{"id": 5, "image_id": 1, )" +
                     members + "}]}",
                 "a.json", options);
}

TEST(Coco, OddValuesAreFaultsOfTheirAnnotation) {
  const auto box = [](const std::string& value) {
    const CocoSet set = set_with(R"("category_id": 1, "bbox": )" + value);
    set.check_labels(0);
    set.check_masks(0);
    return message<SampleError>([&] { set.check_boxes(0); });
  };
  const std::string of = "annotation 5 of image 1: ";
  EXPECT_EQ(box("[-3e38, 0, 2, 2]"), "nothing was thrown");
  EXPECT_EQ(box("[\"1\", 0, 2, 2]"), "nothing was thrown");
  EXPECT_EQ(box("[1, 2, 3]"),
            of + "'bbox' is [1, 2, 3], expected four numbers: left, top, width and height");
  for (const std::string number : {"1e39", "-1e300"})
    EXPECT_EQ(box("[" + number + ", 0, 2, 2]"),
              of + "'bbox' is " + number + ", expected a number that fits into float32");
  for (const std::string number : {"1e400", "01", "NaN", "null", "\"x\"", "{}", "[]", "nan"})
    EXPECT_TRUE(box("[" + number + ", 0, 2, 2]").starts_with(of + "'bbox' is [" + number))
        << box("[" + number + ", 0, 2, 2]");
  const auto label = [](const std::string& value) {
    return message<SampleError>(
        [&] { set_with(R"("bbox": [1, 2, 3, 4], "category_id": )" + value).check_labels(0); });
  };
  EXPECT_EQ(label("5"), of + "its category, 5, is not among the file's categories");
  EXPECT_EQ(label("\"cat\""), of + "'category_id' is \"cat\", expected a whole number");
  for (const char* id : {"1.0", "1e0", "\"1\""}) EXPECT_EQ(label(id), "nothing was thrown") << id;
}

TEST(Coco, IdsThatDoNotFitAreRefused) {
  for (const std::string id : {"9223372036854775808", "-9223372036854775809", "1.5", "null"})
    EXPECT_TRUE(error_of(R"({"annotations": [], "images": [{"id": )" + id +
                         R"(, "file_name": "a", "width": 1, "height": 1}]})")
                    .ends_with(": 'id' is " + id + ", expected a whole number"))
        << id;
}

TEST(Coco, AMaskThatIsOddLeavesNothing) {
  const auto mask = [](const std::string& value) {
    const CocoSet set =
        set_with(R"("category_id": 1, "bbox": [0, 0, 1, 1], "segmentation": )" + value);
    EXPECT_TRUE(set.corners(0).empty());
    EXPECT_FALSE(set.has_all_masks(0));
    return message<SampleError>([&] { set.check_masks(0); });
  };
  EXPECT_TRUE(mask("[[0, 0, 1, 1, 2, 2], [1]]").ends_with("an odd number of coordinates"));
  EXPECT_TRUE(mask("[[0, 0, 1, 1, 1e39, 0]]").ends_with("a number that fits into float32"));
  EXPECT_TRUE(mask("[0, 0, 1, 1]").ends_with("expected a list of polygons, each a list"));
  EXPECT_TRUE(mask(R"({"counts": [1, -1], "size": [1, 1]})").ends_with("expected lengths of runs"));
  EXPECT_TRUE(mask(R"({"counts": [1]})").ends_with("'segmentation' has no 'size'"));
  EXPECT_EQ(mask("[]"), "nothing was thrown");
}

TEST(Coco, AnnotationsOfNoImageAreLeftOut) {
  const CocoSet set(R"({"images": [{"id": 1, "file_name": "a"}], "categories": [],
                        "annotations": [{"id": 3, "image_id": 2}, {"id": 4}]})",
                    "a.json", {});
  EXPECT_EQ(set.boxes(0), 0);
  EXPECT_EQ(set.warning(),
            "annotations of images that are not among 'images' are left out: 2, the first of them "
            "annotation 3 of image 2");
}

TEST(Coco, WhatIsThereTwiceIsRefused) {
  EXPECT_EQ(error_of(R"({"images": [], "annotations": []}{"images": []})"),
            "'a.json' at byte 33: there is more in it than one object");
  for (const char* member : {"images", "annotations", "categories"})
    EXPECT_TRUE(error_of(R"({"images": [], "annotations": [], "categories": [], ")" +
                         std::string(member) + "\": []}")
                    .ends_with(std::string(": there are two members '") + member + "'"));
  const auto with = [](const std::string& first, const std::string& second) {
    const auto image = [](const std::string& name) {
      return R"({"id": 3, "width": 1, "height": 1, "file_name": ")" + name + "\"}";
    };
    return error_of(R"({"annotations": [], "images": [)" + image(first) + "," + image(second) +
                    "]}");
  };
  EXPECT_EQ(with("a.jpg", "b.jpg"), "'a.json': the images 'a.jpg' and 'b.jpg' have the same id, 3");
  EXPECT_EQ(with("a.jpg", "a.jpg"), "nothing was thrown");
}

TEST(Coco, RealAnnotations) {
  const auto folder = test::test_data() / "coco_small";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "without the data";
  const std::string path = (folder / "instances.json").string();
  const CocoSet set(read_text(path), path, {.masks = true});
  simdjson::dom::parser parser;
  const Json json = parser.load(path);
  EXPECT_EQ(set.size(), static_cast<int64_t>(json["images"].get_array().size()));
  int64_t boxes = 0;
  for (int64_t i = 0; i < set.size(); ++i) boxes += set.boxes(i);
  EXPECT_EQ(boxes, static_cast<int64_t>(json["annotations"].get_array().size()));
}

}  // namespace
}  // namespace stoker::stores
