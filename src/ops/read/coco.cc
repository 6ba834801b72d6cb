// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/coco.h"

#include <filesystem>
#include <system_error>

#include "base/hash.h"
#include "codec/codec.h"
#include "op/op.h"
#include "op/reader.h"
#include "stores/record_files.h"

namespace stoker::ops::read {

namespace {

using stores::CocoSet;

// What comes beside pictures, boxes and labels.
struct CocoOutputs {
  bool ltrb = false, ratio = false, polygons = false, of_coordinates = false, masks = false,
       ids = false;
};

class CocoStore final : public SampleStore {
 public:
  CocoStore(std::string root, CocoSet set, CocoOutputs outputs)
      : root_(std::move(root)),
        set_(std::move(set)),
        outputs_(outputs),
        fingerprint_(set_.fingerprint()) {}

  int64_t size() const override { return set_.size(); }
  std::string name(int64_t i) const override { return io::join_path(root_, set_.file_name(i)); }
  uint64_t fingerprint() const override { return fingerprint_; }
  io::Place place(int64_t i) const override { return io::Place::at({name(i)}); }

  void read(Reading& r) const override {
    const int64_t i = r.index, objects = set_.boxes(i);
    r.share(0, r.parts[0]);
    auto* boxes = r.make(1, {DType::kFloat32, {}, {objects, 4}}).as<float>();
    auto* labels = r.make(2, {DType::kInt32, {}, {objects}}).as<int32_t>();
    const Size whole = outputs_.ratio ? size_of_picture(r) : Size{};
    for (int64_t k = 0; k < objects; ++k) {
      give_box(i, k, whole, boxes + 4 * k);
      labels[k] = set_.label(i, k);
    }
    size_t next = 3;
    if (outputs_.polygons) {
      give_polygons(r, whole, next);
      next += 2;
    }
    if (outputs_.masks) {
      const Shape shape{set_.height(i), set_.width(i), 1};
      if (!shape.is_possible()) throw SampleError("the picture is too large for a mask");
      const View& to = r.make(next++, {DType::kInt32, "HWC", shape});
      set_.paint_masks(i, {to.as<int32_t>(), static_cast<size_t>(shape.volume())});
    }
    if (outputs_.ids) {
      const int64_t id = set_.image_id(i);
      if (id != static_cast<int32_t>(id))
        throw SampleError("the picture's id, " + std::to_string(id) + ", does not fit into int32");
      r.give(next, {DType::kInt32, {}, {1}}, static_cast<int32_t>(id));
    }
  }

 private:
  struct Size {  // that boxes and corners are parts of
    float width = 1, height = 1;
  };

  Size size_of_picture(const Reading& r) const {
    const int32_t width = set_.width(r.index), height = set_.height(r.index);
    if (width > 0 && height > 0) return {static_cast<float>(width), static_cast<float>(height)};
    // The annotations do not say the size, so the picture does.
    const ImageInfo picture = peek(r.parts[0], {.adjust_orientation = false}).info;
    return {static_cast<float>(picture.width), static_cast<float>(picture.height)};
  }

  void give_box(int64_t i, int64_t k, Size whole, float* to) const {
    const CocoSet::Box b = set_.box(i, k);
    to[0] = b.x, to[1] = b.y;
    to[2] = outputs_.ltrb ? b.x + b.width : b.width;
    to[3] = outputs_.ltrb ? b.y + b.height : b.height;
    for (int axis = 0; axis < 4; ++axis) to[axis] /= axis % 2 == 0 ? whole.width : whole.height;
  }

  void give_polygons(Reading& r, Size whole, size_t k) const {
    const std::vector<CocoSet::Polygon> table = set_.polygons(r.index);
    const std::vector<float> corners = set_.corners(r.index);
    const auto rows = static_cast<int64_t>(table.size());
    auto* to = r.make(k, {DType::kInt32, {}, {rows, 3}}).as<int32_t>();
    for (const CocoSet::Polygon& p : table) {
      *to++ = p.object;
      *to++ = outputs_.of_coordinates ? 2 * p.first : p.first;
      *to++ = outputs_.of_coordinates ? 2 * p.last : p.last;
    }
    const auto count = static_cast<int64_t>(corners.size() / 2);
    auto* xy = r.make(k + 1, {DType::kFloat32, {}, {count, 2}}).as<float>();
    for (size_t c = 0; c < corners.size(); ++c)
      xy[c] = corners[c] / (c % 2 == 0 ? whole.width : whole.height);
  }

  std::string root_;
  CocoSet set_;
  CocoOutputs outputs_;
  uint64_t fingerprint_;
};

// The file in a folder of preprocessed annotations.
std::string preprocessed_file(const std::string& path) {
  std::error_code ignored;  // what cannot be looked up cannot be opened either, which tells why
  return std::filesystem::is_directory(path, ignored) ? io::join_path(path, "annotations.stoker")
                                                      : path;
}

void save(const std::string& folder, const std::string& bytes) {
  const std::string file = io::join_path(folder, "annotations.stoker");
  std::error_code ignored;  // then it cannot be written either
  std::filesystem::create_directories(folder, ignored);
  if (!io::replace_file(file, {{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}}))
    throw GraphError("cannot write preprocessed annotations to '" + file + "'");
}

}  // namespace

struct Coco : ReaderArguments {
  std::string annotations_file, preprocessed_annotations, save_preprocessed_annotations_dir;
  std::optional<std::string> file_root;
  std::optional<std::vector<std::string>> images;
  bool save_preprocessed_annotations = false, polygon_masks = false,
       polygons_of_coordinates = false, pixelwise_masks = false, image_ids = false, ltrb = false,
       ratio = false, skip_empty = false, include_iscrowd = true, avoid_class_remapping = false;
  float size_threshold = 0.1F;

  static constexpr auto kIgnored = kIgnoredReaderArguments;
  static constexpr const char* kSkip = "reads files; tests/readers has its samples";
  static constexpr auto schema = describe(
      "readers.coco",
      "Reads pictures with the boxes, classes and masks of COCO's annotations.\n\n"
      "The samples are in the order of the pictures' ids, or as the argument images lists them; "
      "the "
      "objects of a picture in the order of the file. Annotations that cannot be read are an error "
      "when the pipeline is built; a picture that cannot be read, or a damaged mask, fails its "
      "sample.",
      ports(),
      std::array<Port, 7>{
          {{.name = "image", .help = "The picture's bytes, uint8 of shape (size,)."},
           {.name = "bounding_boxes",
            .help = "The boxes, float32 of shape (objects, 4): left, top, width and height in "
                    "pixels, unless ltrb or ratio say otherwise."},
           {.name = "labels", .help = "The classes, int32 of shape (objects,)."},
           {.name = "polygons",
            .help = "The polygons of all masks, int32 of shape (polygons, 3): the number of the "
                    "object in the picture, its first vertex, and the one behind its last.",
            .when = "polygon_masks"},
           {.name = "vertices",
            .help = "The corners of the polygons, float32 of shape (vertices, 2): x and y.",
            .when = "polygon_masks"},
           {.name = "pixelwise_masks",
            .help = "The class of each pixel, int32 of shape (height, width, 1); 0 where there is "
                    "no object. Where objects overlap, the larger class counts.",
            .when = "pixelwise_masks"},
           {.name = "image_ids",
            .help = "The picture's id, int32 of shape (1,).",
            .when = "image_ids"}}},
      arg(&Coco::file_root, "file_root", "The folder of the pictures."),
      arg(&Coco::annotations_file, "annotations_file", "The annotations, a file of JSON."),
      arg(&Coco::preprocessed_annotations, "preprocessed_annotations",
          "The folder of annotations that were saved by save_preprocessed_annotations, in the "
          "place "
          "of annotations_file."),
      arg(&Coco::save_preprocessed_annotations, "save_preprocessed_annotations",
          "Save the annotations in a form that is read faster."),
      arg(&Coco::save_preprocessed_annotations_dir, "save_preprocessed_annotations_dir",
          "The folder to save them in."),
      arg(&Coco::images, "images",
          "Which pictures are read, by their file names in the annotations, and in which order. A "
          "picture may come more than once."),
      arg(&Coco::polygon_masks, "polygon_masks",
          "Whether polygons and vertices are outputs. Masks of run lengths have none. Excludes "
          "pixelwise_masks."),
      arg(&Coco::polygons_of_coordinates, "polygons_of_coordinates",
          "With polygon_masks: where polygons begin and end, coordinates are counted, two for each "
          "vertex. This is what the old argument masks stands for."),
      arg(&Coco::pixelwise_masks, "pixelwise_masks", "Whether pixelwise_masks are an output."),
      arg(&Coco::image_ids, "image_ids", "Whether image_ids are an output."),
      arg(&Coco::ltrb, "ltrb", "Boxes are left, top, right and bottom."),
      arg(&Coco::ratio, "ratio",
          "Boxes and vertices are parts of the picture's width and height, as the annotations say "
          "them, or where they say 0 the picture itself."),
      arg(&Coco::size_threshold, "size_threshold",
          "Objects whose width or height is less, in pixels, are left out."),
      arg(&Coco::skip_empty, "skip_empty", "Leave out pictures without objects."),
      arg(&Coco::include_iscrowd, "include_iscrowd",
          "Whether objects that are marked as a crowd are read."),
      arg(&Coco::avoid_class_remapping, "avoid_class_remapping",
          "Labels are the ids of the categories. Else they are 1, 2 and so on, in the order in "
          "which the file lists the categories."),
      kReaderArguments);

  void check(Checker& c) const {
    check_reader(*this);
    require(annotations_file.empty() != preprocessed_annotations.empty(),
            "give either annotations_file or preprocessed_annotations");
    require(!polygon_masks || !pixelwise_masks,
            "arguments 'polygon_masks' and 'pixelwise_masks' exclude each other");
    require(!save_preprocessed_annotations || !save_preprocessed_annotations_dir.empty(),
            "argument 'save_preprocessed_annotations' needs 'save_preprocessed_annotations_dir'");
    require(!save_preprocessed_annotations || preprocessed_annotations.empty(),
            "arguments 'save_preprocessed_annotations' and 'preprocessed_annotations' exclude each "
            "other");
    c.out({DType::kUint8, {}, {-1}});
    c.out({DType::kFloat32, {}, {-1, 4}});
    c.out({DType::kInt32, {}, {-1}});
    if (polygon_masks) {
      c.out({DType::kInt32, {}, {-1, 3}});
      c.out({DType::kFloat32, {}, {-1, 2}});
    }
    if (pixelwise_masks) c.out({DType::kInt32, "HWC", {-1, -1, 1}});
    if (image_ids) c.out({DType::kInt32, {}, {1}});
  }

  std::unique_ptr<SampleStore> open() const {
    return stores::while_opening([&] {
      const stores::CocoOptions options{
          polygon_masks || pixelwise_masks, size_threshold, include_iscrowd, skip_empty,
          !avoid_class_remapping,           images};
      return std::make_unique<CocoStore>(
          file_root.value_or(""), read_set(options),
          CocoOutputs{ltrb, ratio, polygon_masks, polygons_of_coordinates, pixelwise_masks,
                      image_ids});
    });
  }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }

 private:
  CocoSet read_set(const stores::CocoOptions& options) const {
    if (!preprocessed_annotations.empty()) {
      const std::string file = preprocessed_file(preprocessed_annotations);
      return CocoSet::from_preprocessed(io::text_of(file), file, options);
    }
    const std::string json = io::text_of(annotations_file);
    if (save_preprocessed_annotations)
      save(save_preprocessed_annotations_dir, CocoSet::preprocess(json, annotations_file));
    return CocoSet(json, annotations_file, options);
  }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::Coco)
