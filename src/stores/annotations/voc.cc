// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/annotations/voc.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <pugixml.hpp>

#include "base/text.h"

namespace stoker::stores {

namespace {

// The text of an element, whatever pieces it is written in, without blanks around it.
std::string text_of(pugi::xml_node node) {
  std::string text;
  for (const pugi::xml_node child : node.children())
    if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata)
      text += child.value();
  constexpr const char* kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

double number_of(pugi::xml_node parent, const char* name) {
  const std::string text = text_of(parent.child(name));
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool fits = std::abs(value) <= std::numeric_limits<float>::max();  // no NaN does
  if (error != std::errc() || end != text.data() + text.size() || !fits)
    throw SampleError("'" + std::string(name) + "' of '" + parent.name() +
                          "' is to be a number, and is '" + shortened(text, 60) + "'",
                      parent.offset_debug());
  return value;
}

bool flag_of(pugi::xml_node parent, const char* name) {
  return parent.child(name) && !text_of(parent.child(name)).empty() && number_of(parent, name) != 0;
}

// Tools leave out an extent that they do not know, or write 0 or -1.
int32_t extent_of(pugi::xml_node size, const char* name) {
  constexpr double kMost = 1 << 24;
  if (text_of(size.child(name)).empty()) return 0;
  const double value = number_of(size, name);
  if (value != std::trunc(value) || value > kMost)
    throw SampleError("'" + std::string(name) +
                          "' of 'size' is to be a number of pixels, and is '" +
                          shortened(text_of(size.child(name)), 60) + "'",
                      size.offset_debug());
  return static_cast<int32_t>(std::max(value, 0.0));
}

template <class F>
void judge(std::optional<SampleError>& fault, F f) {
  try {
    f();
  } catch (const SampleError& e) {
    fault = e;
  }
}

void read_box(pugi::xml_node object, VocObject& o) {
  const pugi::xml_node box = object.child("bndbox");
  if (!box) throw SampleError("an object has no 'bndbox'", object.offset_debug());
  o.left = static_cast<float>(number_of(box, "xmin"));
  o.top = static_cast<float>(number_of(box, "ymin"));
  o.right = static_cast<float>(number_of(box, "xmax"));
  o.bottom = static_cast<float>(number_of(box, "ymax"));
  if (o.right < o.left || o.bottom < o.top)
    throw SampleError("'bndbox' of an object ends before it begins", box.offset_debug());
}

VocAnnotation parse(ByteSpan xml) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_buffer(xml.data(), xml.size());
  if (!result)
    throw SampleError("the annotation is damaged: " + std::string(result.description()),
                      static_cast<int64_t>(result.offset));
  const pugi::xml_node root = document.child("annotation");
  if (!root) throw SampleError("the file of XML has no element 'annotation'", 0);
  VocAnnotation a;
  a.file_name = text_of(root.child("filename"));
  judge(a.size_fault, [&] {
    a.width = extent_of(root.child("size"), "width");
    a.height = extent_of(root.child("size"), "height");
  });
  for (const pugi::xml_node object : root.children("object")) {
    VocObject& o = a.objects.emplace_back();
    o.name = text_of(object.child("name"));
    o.pose = text_of(object.child("pose"));
    judge(o.box_fault, [&] { read_box(object, o); });
    o.difficult = flag_of(object, "difficult");
    o.truncated = flag_of(object, "truncated");
  }
  return a;
}

}  // namespace

VocAnnotation parse_voc(ByteSpan xml) {
  // pugixml counts in UTF-8, which may have more bytes than the file.
  const auto in_file = [&](const SampleError& e) {
    return SampleError(e.what(), std::clamp<int64_t>(e.offset, 0, std::ssize(xml)));
  };
  try {
    VocAnnotation a = parse(xml);
    if (a.size_fault) a.size_fault = in_file(*a.size_fault);
    for (VocObject& o : a.objects)
      if (o.box_fault) o.box_fault = in_file(*o.box_fault);
    return a;
  } catch (const SampleError& e) {
    throw in_file(e);
  }
}

}  // namespace stoker::stores
