// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/hash.h"
#include "io/paths/path_list.h"
#include "op/decode/encoded_picture.h"
#include "op/reader.h"
#include "op/type_of.h"

namespace stoker::ops::read {

namespace {

// A sequence is the pictures of a folder in the order of their names.
class SequenceStore final : public SampleStore {
 public:
  SequenceStore(std::string root, int64_t length, int64_t step, int64_t stride, ImageType type)
      : root_(std::move(root)), length_(length), step_(step), stride_(stride) {
    options_.output_type = type;
    io::Tally too_short;
    io::FoundNames found = io::names_found(root_, io::usual_patterns(), "", false);
    names_ = std::move(found.names);
    warning_ = std::move(found.warning);
    const auto folder_of = [&](size_t i) {
      return std::string_view(names_[i]).substr(0, names_[i].rfind('/') + 1);
    };
    for (size_t begin = 0; begin < names_.size();) {
      size_t end = begin;
      while (end < names_.size() && folder_of(end) == folder_of(begin)) ++end;
      const auto frames = static_cast<int64_t>(end - begin);
      if (length_ - 1 > (frames - 1) / stride_) too_short.add(std::string(folder_of(begin)));
      for (int64_t at = 0; at < frames && length_ - 1 <= (frames - 1 - at) / stride_; at += step_)
        firsts_.push_back(static_cast<int64_t>(begin) + at);
      begin = end;
    }
    if (too_short.count())
      warning_ += (warning_.empty() ? "" : "; ") + std::string("leaves out ") +
                  too_short.in_words("folder") + " with fewer pictures than a sequence takes";
    if (firsts_.empty())
      throw GraphError("no folder in '" + root_ + "' has enough pictures for a sequence of " +
                       std::to_string(length_) + ", " + std::to_string(stride_) + " apart");
    for (const std::string& n : names_) fingerprint_ = mix(fingerprint_, hash64(n));
    fingerprint_ = mix(fingerprint_, static_cast<uint64_t>(length), static_cast<uint64_t>(step),
                       static_cast<uint64_t>(stride));
  }

  int64_t size() const override { return static_cast<int64_t>(firsts_.size()); }
  std::string name(int64_t index) const override { return path(index, 0); }
  uint64_t fingerprint() const override { return fingerprint_; }
  std::string warning() const override { return warning_; }
  io::Place place(int64_t index) const override {
    std::vector<io::Extent> extents;
    for (int64_t f = 0; f < length_; ++f) extents.push_back({path(index, f)});
    return io::Place::at(std::move(extents));
  }
  void read(Reading& r) const override {
    const View* out = nullptr;
    TensorType first;
    for (int64_t f = 0; f < length_; ++f) try {
        const EncodedImage picture = peek(r.parts[static_cast<size_t>(f)], options_);
        TensorType t = picture.type();
        if (f == 0) {
          first = t;
          t.shape = {length_, t.shape[0], t.shape[1], t.shape[2]};
          t.layout = "FHWC";
          out = &r.make(0, t);
        } else if (!(t == first)) {
          throw SampleError("it is of " + t.str() + ", the first of " + first.str() +
                            "; all frames must be alike");
        }
        const View frame = out->frame(f);
        picture.codec->decode(picture, frame, Window::all(frame.full), r.scratch);
      } catch (const TooLarge&) {
        throw;
      } catch (const SampleError& e) {
        throw SampleError(
            "frame " + std::to_string(f) + ", '" + path(r.index, f) + "': " + e.what(), e.offset);
      }
  }

 private:
  std::string path(int64_t index, int64_t frame) const {
    const int64_t i = firsts_[static_cast<size_t>(index)] + frame * stride_;
    return io::join_path(root_, names_[static_cast<size_t>(i)]);
  }

  const std::string root_;
  const int64_t length_, step_, stride_;
  DecodeOptions options_;
  std::vector<std::string> names_;
  std::vector<int64_t> firsts_;  // by sequence: its first frame
  std::string warning_;
  uint64_t fingerprint_ = 0;
};

}  // namespace

struct Sequence : ReaderArguments {
  std::string file_root;
  int64_t sequence_length = 1, step = 1, stride = 1;
  ImageType image_type = ImageType::kRGB;

  static constexpr auto kIgnored = kIgnoredReaderArguments;
  static constexpr const char* kSkip = "reads files; tests/readers has its samples";
  static constexpr auto schema = describe(
      "readers.sequence",
      "Reads sequences of pictures from folders of picture files.\n\n"
      "The pictures of a folder, in the order of their names, are the frames of one film. Gives "
      "decoded frames of shape (frames, height, width, channels); all frames of a sequence must be "
      "of the same size. Only whole sequences are delivered.",
      ports(), ports({.name = "frames", .help = "The decoded frames, layout FHWC."}),
      arg(&Sequence::file_root, "file_root",
          "The folder. Each folder in it or below that holds pictures is a film.", kRequired),
      arg(&Sequence::sequence_length, "sequence_length", "The number of frames of a sequence.",
          at_least(1), kRequired),
      arg(&Sequence::step, "step",
          "How many frames behind the beginning of a sequence the next one begins.", at_least(1)),
      arg(&Sequence::stride, "stride",
          "How many frames of the film a frame is behind the one "
          "before.",
          at_least(1)),
      arg(&Sequence::image_type, "image_type", "The colours and channels of the frames."),
      kReaderArguments);

  void check(Checker& c) const {
    check_reader(*this);
    const int64_t channels = image_type == ImageType::kAny    ? -1
                             : image_type == ImageType::kGray ? 1
                                                              : 3;
    c.out({DType::kUint8, "FHWC", {sequence_length, -1, -1, channels}});
  }
  std::unique_ptr<SampleStore> open() const {
    return std::make_unique<SequenceStore>(file_root, sequence_length, step, stride, image_type);
  }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::Sequence)
