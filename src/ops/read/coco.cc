// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/annotations/coco.h"

#include <filesystem>
#include <system_error>

#include "base/hash.h"
#include "codec/codec.h"
#include "io/local_files.h"
#include "op/decode/annotated_picture.h"
#include "op/reader.h"
#include "op/type_of.h"
#include "stores/records/record_files.h"

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

  std::string warning() const override { return set_.warning(); }

  void read(Reading& r) const override {
    const int64_t i = r.index, objects = set_.boxes(i);
    const Asked asked = asked_of(r);
    check(i, asked);
    const Size picture = size_of_picture(r, asked);
    const Size whole = outputs_.ratio ? picture : Size{};
    r.share(0, r.parts[0]);
    auto* boxes = r.make(1, {DType::kFloat32, {}, {objects, 4}}).as<float>();
    auto* labels = r.make(2, {DType::kInt32, {}, {objects}}).as<int32_t>();
    for (int64_t k = 0; k < objects; ++k) {
      give_box(i, k, whole, boxes + 4 * k);
      labels[k] = set_.label(i, k);
    }
    if (asked.boxes) look_outside(r);
    size_t next = 3;
    if (outputs_.polygons) {
      give_polygons(r, whole, next);
      next += 2;
    }
    if (outputs_.masks) give_masks(r, asked.masks ? picture : Size{0, 0}, next++);
    if (outputs_.ids) {
      const int64_t id = set_.image_id(i);
      if (id != static_cast<int32_t>(id))
        throw SampleError("the picture's id, " + std::to_string(id) + ", does not fit into int32");
      r.give(next, {DType::kInt32, {}, {1}}, static_cast<int32_t>(id));
    }
  }

 private:
  struct Size {  // that boxes and corners are parts of
    int32_t width = 1, height = 1;
  };
  struct Asked {
    bool boxes, labels, polygons, masks;
  };

  Asked asked_of(const Reading& r) const {
    return {r.asks(1), r.asks(2), outputs_.polygons && (r.asks(3) || r.asks(4)),
            outputs_.masks && r.asks(3)};
  }

  // Throws SampleError for odd values of what something reads.
  void check(int64_t i, const Asked& asked) const {
    if (asked.boxes) set_.check_boxes(i);
    if (asked.labels || asked.masks) set_.check_labels(i);
    if (asked.polygons || asked.masks) set_.check_masks(i);
  }

  // The extents that boxes, corners and masks refer to, which decoders compare with the picture.
  // The picture tells them where something needs them and the annotations lack them.
  Size size_of_picture(Reading& r, const Asked& asked) const {
    if (!asked.boxes && !asked.polygons && !asked.masks) return {};
    Size size{set_.width(r.index), set_.height(r.index)};
    r.annotated = {.is_relative = outputs_.ratio && !asked.masks};
    if (asked.masks || outputs_.ratio) {
      set_.check_extents(r.index);
      if (size.width == 0 || size.height == 0) {
        const ImageInfo picture = peek(r.parts[0], {.adjust_orientation = false}).info;
        r.annotated->is_assumed = true;
        if (size.width == 0) size.width = static_cast<int32_t>(picture.width);
        if (size.height == 0) size.height = static_cast<int32_t>(picture.height);
      }
    }
    r.annotated->width = size.width, r.annotated->height = size.height;
    return size;
  }

  void look_outside(Reading& r) const {
    std::vector<float> edges;
    for (int64_t k = 0; k < set_.boxes(r.index); ++k) {
      const CocoSet::Box b = set_.box(r.index, k);
      edges.insert(edges.end(), {b.x, b.y, b.x + b.width, b.y + b.height});
    }
    remark_on_boxes_outside(r, edges);
  }

  void give_masks(Reading& r, const Size& size, size_t k) const {
    const Shape shape{size.height, size.width, 1};
    if (!shape.is_possible()) throw SampleError("the picture is too large for a mask");
    const View& to = r.make(k, {DType::kInt32, "HWC", shape});
    if (shape.volume() == 0) return;
    if (!set_.has_all_masks(r.index))
      r.remarks.push_back({"an object has no segmentation",
                           "its pixels are 0 in the mask, as if there were no object"});
    set_.paint_masks(r.index, size.height, size.width,
                     {to.as<int32_t>(), static_cast<size_t>(shape.volume())});
  }

  void give_box(int64_t i, int64_t k, Size whole, float* to) const {
    const CocoSet::Box b = set_.box(i, k);
    to[0] = b.x, to[1] = b.y;
    to[2] = outputs_.ltrb ? b.x + b.width : b.width;
    to[3] = outputs_.ltrb ? b.y + b.height : b.height;
    for (int axis = 0; axis < 4; ++axis)
      to[axis] /= static_cast<float>(axis % 2 == 0 ? whole.width : whole.height);
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
      xy[c] = corners[c] / static_cast<float>(c % 2 == 0 ? whole.width : whole.height);
  }

  std::string root_;
  CocoSet set_;
  CocoOutputs outputs_;
  uint64_t fingerprint_;
};

std::string preprocessed_file(const std::string& path) {
  return io::is_folder(path) ? io::join_path(path, "annotations.stoker") : path;
}

void write(const std::string& file, std::string_view text) {
  if (!io::replace_file(file, {{reinterpret_cast<const uint8_t*>(text.data()), text.size()}}))
    throw GraphError("cannot write preprocessed annotations to '" + file + "'");
}

// Saves what preprocessed_file() names, and for other programs the pictures' names, one a line.
void save(const std::string& folder, const std::string& bytes, const CocoSet& set) {
  std::error_code ignored;  // then it cannot be written either
  std::filesystem::create_directories(folder, ignored);
  write(io::join_path(folder, "annotations.stoker"), bytes);
  std::string names;
  for (int64_t i = 0; i < set.size(); ++i) names += set.file_name(i) + "\n";
  write(io::join_path(folder, "filenames.dat"), names);
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
      "when the pipeline is built. A picture that cannot be read fails its sample, and so does an "
      "odd value or a damaged mask where something reads the output that it is for. A decoder "
      "fails the sample where the picture has other extents than its annotation says, which is so "
      "where EXIF turns a picture that was annotated as it is stored.",
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
          "them, or where they do not the picture as it is stored."),
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
    CocoSet set(json, annotations_file, options);
    if (save_preprocessed_annotations)
      save(save_preprocessed_annotations_dir, CocoSet::preprocess(json, annotations_file), set);
    return set;
  }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::Coco)
