// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/annotations/voc.h"

#include <algorithm>

#include "base/hash.h"
#include "codec/codec.h"
#include "op/decode/annotated_picture.h"
#include "op/reader.h"
#include "op/type_of.h"
#include "stores/records/record_files.h"

namespace stoker::ops::read {

namespace {

using stores::VocAnnotation;
using stores::VocObject;

struct VocFiles {
  std::string image, annotation;
};

struct VocOptions {
  std::vector<std::string> classes;
  bool ltrb, ratio, include_difficult;
};

class VocStore final : public SampleStore {
 public:
  VocStore(std::vector<VocFiles> files, VocOptions options)
      : files_(std::move(files)), options_(std::move(options)) {
    fingerprint_ = mix(files_.size());
    // Without folders, so that the set may be moved.
    for (const VocFiles& f : files_)
      fingerprint_ = mix(fingerprint_, hash64(f.image.substr(f.image.rfind('/') + 1)),
                         hash64(f.annotation.substr(f.annotation.rfind('/') + 1)));
  }

  int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  std::string name(int64_t i) const override { return files_[static_cast<size_t>(i)].annotation; }
  uint64_t fingerprint() const override { return fingerprint_; }
  io::Place place(int64_t i) const override {
    const VocFiles& f = files_[static_cast<size_t>(i)];
    return io::Place::at(std::vector<io::Extent>{{f.image}, {f.annotation}});
  }

  void read(Reading& r) const override {
    VocAnnotation a = stores::parse_voc(r.parts[1]);
    if (!options_.include_difficult)
      std::erase_if(a.objects, [](const VocObject& o) { return o.difficult; });
    remark_on_name(r, a.file_name);
    if (r.asks(1)) judge_boxes(r, a);
    const auto objects = static_cast<int64_t>(a.objects.size());
    r.share(0, r.parts[0]);
    auto* boxes = r.make(1, {DType::kFloat32, {}, {objects, 4}}).as<float>();
    auto* labels = r.make(2, {DType::kInt32, {}, {objects}}).as<int32_t>();
    auto* difficult = r.make(3, {DType::kInt32, {}, {objects}}).as<int32_t>();
    auto* truncated = r.make(4, {DType::kInt32, {}, {objects}}).as<int32_t>();
    for (const VocObject& o : a.objects) {
      give_box(o, a, boxes);
      boxes += 4;
      *labels++ = r.asks(2) ? label_of(o.name) : 0;
      *difficult++ = o.difficult;
      *truncated++ = o.truncated;
    }
  }

 private:
  // Looks at the boxes and finds their extents, which decoders compare with the picture. The
  // picture tells those that are needed and missing.
  void judge_boxes(Reading& r, VocAnnotation& a) const {
    for (const VocObject& o : a.objects)
      if (o.box_fault) throw SampleError(*o.box_fault);
    const bool is_assumed = options_.ratio && (a.width == 0 || a.height == 0);
    if (is_assumed) {
      if (a.size_fault) throw SampleError(*a.size_fault);
      const ImageInfo picture = peek(r.parts[0], {.adjust_orientation = false}).info;
      if (a.width == 0) a.width = static_cast<int32_t>(picture.width);
      if (a.height == 0) a.height = static_cast<int32_t>(picture.height);
    }
    r.annotated = {0, a.height, a.width, is_assumed, options_.ratio};
    std::vector<float> edges;
    for (const VocObject& o : a.objects)
      edges.insert(edges.end(), {o.left - 1, o.top - 1, o.right, o.bottom});
    remark_on_boxes_outside(r, edges);
  }

  // An annotation also names its picture. Folders and extensions often differ without harm.
  void remark_on_name(Reading& r, const std::string& named) const {
    const auto stem = [](std::string_view path) {
      path.remove_prefix(path.find_last_of("/\\") + 1);
      return path.substr(0, path.rfind('.'));
    };
    const std::string& image = files_[static_cast<size_t>(r.index)].image;
    if (named.empty() || stem(named) == stem(image)) return;
    r.remarks.push_back({"the annotation says that it is of '" + shortened(named, 200) +
                             "', and it is read beside '" + image + "'",
                         "see whether pictures and annotations belong together"});
  }

  // VOC counts pixels from 1, and both corners lie in the box.
  void give_box(const VocObject& o, const VocAnnotation& a, float* to) const {
    const float left = o.left - 1, top = o.top - 1;
    to[0] = left, to[1] = top;
    to[2] = options_.ltrb ? o.right : o.right - left;
    to[3] = options_.ltrb ? o.bottom : o.bottom - top;
    if (!options_.ratio) return;
    for (int axis = 0; axis < 4; ++axis)
      to[axis] /= static_cast<float>(axis % 2 == 0 ? a.width : a.height);
  }

  int32_t label_of(const std::string& name) const {
    if (name.empty()) throw SampleError("an object has no 'name'");
    const auto found = std::find(options_.classes.begin(), options_.classes.end(), name);
    if (found == options_.classes.end())
      throw SampleError("an object is a '" + shortened(name, 60) +
                        "', which is not in the argument 'classes'");
    return static_cast<int32_t>(found - options_.classes.begin()) + 1;
  }

  std::vector<VocFiles> files_;
  VocOptions options_;
  uint64_t fingerprint_;
};

std::string_view without_blanks(std::string_view text) {
  constexpr const char* kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Without the byte order mark that some editors write.
std::string list_of(const std::string& path) {
  std::string text = io::text_of(path);
  if (text.starts_with(stores::kByteOrderMark)) text.erase(0, stores::kByteOrderMark.size());
  return text;
}

// The pictures that an image set lists, or all.
std::vector<VocFiles> files_of_folder(const std::string& root, const std::string& image_set) {
  std::vector<std::string> ids;
  const std::string annotations = io::join_path(root, "Annotations");
  if (image_set.empty()) {
    io::list_folder(annotations, [&](const io::FolderEntry& e) {
      if (!e.is_folder && e.name.ends_with(".xml"))
        ids.push_back(e.name.substr(0, e.name.size() - 4));
    });
    std::sort(ids.begin(), ids.end());
  } else {
    const std::string text = list_of(io::join_path(root, "ImageSets/Main/" + image_set + ".txt"));
    for (std::string_view rest = text; !rest.empty();) {
      // Lists of one class have a number behind the name.
      const std::string_view line = without_blanks(stores::take_line(rest));
      const std::string_view id = line.substr(0, line.find_first_of(" \t"));
      if (!id.empty()) ids.emplace_back(id);
    }
  }
  std::vector<VocFiles> files;
  for (const std::string& id : ids)
    files.push_back({io::join_path(root, "JPEGImages/" + id + ".jpg"),
                     io::join_path(annotations, id + ".xml")});
  return files;
}

// A line has a picture and its annotation, parted by blanks or a tab. With a tab, names may hold
// blanks.
std::vector<VocFiles> files_of_list(const std::string& list, const std::string& root) {
  std::vector<VocFiles> files;
  const std::string text = list_of(list);
  int number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    ++number;
    const std::string_view line = without_blanks(stores::take_line(rest));
    if (line.empty()) continue;
    size_t gap = line.find('\t');
    if (gap == line.npos) gap = line.find(' ');
    const std::string_view image = without_blanks(line.substr(0, gap)),
                           annotation = without_blanks(line.substr(std::min(gap, line.size())));
    if (image.empty() || annotation.empty())
      throw GraphError("'" + list + "', line " + std::to_string(number) +
                       ": expected a picture and its annotation");
    files.push_back(
        {io::join_path(root, std::string(image)), io::join_path(root, std::string(annotation))});
  }
  return files;
}

}  // namespace

struct Voc : ReaderArguments {
  std::optional<std::string> file_root, file_list;
  std::string image_set;
  std::vector<std::string> classes = {"aeroplane",   "bicycle", "bird",  "boat",      "bottle",
                                      "bus",         "car",     "cat",   "chair",     "cow",
                                      "diningtable", "dog",     "horse", "motorbike", "person",
                                      "pottedplant", "sheep",   "sofa",  "train",     "tvmonitor"};
  bool ltrb = false, ratio = false, include_difficult = true;

  static constexpr auto kIgnored = kIgnoredReaderArguments;
  static constexpr const char* kSkip = "reads files; tests/readers has its samples";
  static constexpr auto schema = describe(
      "readers.voc",
      "Reads pictures with the boxes and classes of Pascal VOC's annotations.\n\n"
      "The files come from a folder in VOC's layout (file_root, image_set) or from a list of "
      "pictures and annotations (file_list). VOC counts pixels from 1 and takes both corners for "
      "parts of the box; here boxes begin at 0, and their right and lower edges lie behind the "
      "last "
      "pixel. Parts of objects are left out. A folder or list that cannot be read is an error when "
      "the pipeline is built; a picture or an annotation that cannot be read fails its sample. A "
      "decoder "
      "fails the sample where the picture has other extents than its annotation says.",
      ports(),
      std::array<Port, 5>{
          {{.name = "image", .help = "The picture's bytes, uint8 of shape (size,)."},
           {.name = "bounding_boxes",
            .help = "The boxes, float32 of shape (objects, 4): left, top, width and height in "
                    "pixels, unless ltrb or ratio say otherwise."},
           {.name = "labels", .help = "The classes, int32 of shape (objects,), counted from 1."},
           {.name = "difficult",
            .help = "1 for objects that are marked as difficult, else 0, int32 of shape "
                    "(objects,)."},
           {.name = "truncated",
            .help = "1 for objects that are marked as truncated, else 0, int32 of shape "
                    "(objects,)."}}},
      arg(&Voc::file_root, "file_root",
          "The folder that holds Annotations, JPEGImages and ImageSets. Relative names in "
          "file_list "
          "start from it."),
      arg(&Voc::image_set, "image_set",
          "The list in ImageSets/Main, such as 'trainval'. Without it, all annotations are read, "
          "in "
          "the order of their names."),
      arg(&Voc::file_list, "file_list",
          "Path of a text file, one picture and its annotation per line. Names are relative to "
          "file_root, or else to the text file's folder. Excludes image_set."),
      arg(&Voc::classes, "classes",
          "The names of the classes, which have the labels 1, 2 and so on. Default: the twenty of "
          "VOC. An object of another class fails its sample."),
      arg(&Voc::ltrb, "ltrb", "Boxes are left, top, right and bottom."),
      arg(&Voc::ratio, "ratio",
          "Boxes are parts of the picture's width and height, as the annotation says them, or else "
          "the picture itself."),
      arg(&Voc::include_difficult, "include_difficult",
          "Whether objects that are marked as difficult are read."),
      kReaderArguments);

  void check(Checker& c) const {
    check_reader(*this);
    require(file_root || file_list, "the files are missing: give file_root or file_list");
    require(!file_list || image_set.empty(),
            "arguments 'file_list' and 'image_set' exclude each other");
    c.out({DType::kUint8, {}, {-1}});
    c.out({DType::kFloat32, {}, {-1, 4}});
    for (int k = 0; k < 3; ++k) c.out({DType::kInt32, {}, {-1}});
  }

  std::unique_ptr<SampleStore> open() const {
    return stores::while_opening([&] {
      std::vector<VocFiles> files;
      if (file_list) {
        const size_t slash = file_list->rfind('/');
        files = files_of_list(
            *file_list,
            file_root.value_or(slash == file_list->npos ? "" : file_list->substr(0, slash)));
      } else {
        files = files_of_folder(*file_root, image_set);
      }
      return std::make_unique<VocStore>(std::move(files),
                                        VocOptions{classes, ltrb, ratio, include_difficult});
    });
  }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::Voc)
