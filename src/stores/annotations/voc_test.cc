// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/annotations/voc.h"

#include "stores/testing.h"

namespace stoker::stores {
namespace {

TEST(Voc, AnnotationsOfRealFiles) {
  const Expected expected("voc");
  if (!expected.is_available()) GTEST_SKIP() << "without the data";
  int seen = 0;
  for (const Json record : expected.json()["records"].get_array()) {
    const std::string path = expected.path(text_of(record["annotation"].value()));
    SCOPED_TRACE(path);
    const std::vector<uint8_t> file = read_file(path);
    if (!record["readable"].get_bool().value()) {
      const std::string error = message<SampleError>([&] { parse_voc(file); });
      EXPECT_TRUE(error.starts_with("the annotation is damaged: ")) << error;
      continue;
    }
    const VocAnnotation a = parse_voc(file);
    ++seen;
    Json size;
    ASSERT_FALSE(record["size_element"].get(size));
    EXPECT_EQ(a.width, size.is_null() ? 0 : size.at(0).get_int64().value());
    EXPECT_EQ(a.height, size.is_null() ? 0 : size.at(1).get_int64().value());
    size_t i = 0;
    for (const Json object : record["objects"].get_array()) {
      const VocObject& o = a.objects.at(i++);
      EXPECT_EQ(o.name, text_of(object["name"].value()));
      const float corners[] = {o.left, o.top, o.right, o.bottom};
      for (size_t k = 0; k < 4; ++k)
        EXPECT_EQ(corners[k], static_cast<float>(object["bndbox"].at(k).get_double().value()));
      const auto flag = [&](const char* name) {
        return !object[name].is_null() && object[name].get_int64().value() != 0;
      };
      EXPECT_EQ(o.difficult, flag("difficult"));
      EXPECT_EQ(o.truncated, flag("truncated"));
    }
    EXPECT_EQ(i, a.objects.size());
  }
  EXPECT_EQ(seen, 11);
}

TEST(Voc, WrongAnnotationsAreRefused) {
  const auto error = [](const std::string& xml) {
    return message<SampleError>([&] { parse_voc(bytes_of(xml)); });
  };
  EXPECT_EQ(error("<a/>"), "the file of XML has no element 'annotation'");
}

TEST(Voc, OddValuesAreFaults) {
  const auto box = [](const std::string& xml) {
    const VocAnnotation a =
        parse_voc(bytes_of("<annotation><object>" + xml + "</object></annotation>"));
    return a.objects.at(0).box_fault ? a.objects[0].box_fault->what() : std::string();
  };
  EXPECT_EQ(box(""), "an object has no 'bndbox'");
  for (const std::string number : {"x", "nan", "-inf", "1e39", "1e400", "0x10", "1 2"})
    EXPECT_EQ(box("<name>a</name><bndbox><xmin>" + number + "</xmin></bndbox>"),
              "'xmin' of 'bndbox' is to be a number, and is '" + number + "'");
  EXPECT_EQ(box("<bndbox><xmin>5</xmin><ymin>1</ymin><xmax>4</xmax><ymax>2</ymax></bndbox>"),
            "'bndbox' of an object ends before it begins");
  const auto size = [](const std::string& width) {
    return parse_voc(
        bytes_of("<annotation><size><width>" + width + "</width></size></annotation>"));
  };
  for (const char* nothing : {"-1", "0", ""}) {
    EXPECT_EQ(size(nothing).width, 0);
    EXPECT_FALSE(size(nothing).size_fault);
  }
  EXPECT_EQ(size("7.0").width, 7);
  for (const char* wrong : {"x", "1.5", "1e30"}) EXPECT_TRUE(size(wrong).size_fault) << wrong;
}

}  // namespace
}  // namespace stoker::stores
