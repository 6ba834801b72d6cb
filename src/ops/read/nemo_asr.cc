// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/hash.h"
#include "op/decode/encoded_sound.h"
#include "op/reader.h"
#include "op/type_of.h"
#include "stores/annotations/sound_manifest.h"
#include "stores/records/record_files.h"

namespace stoker::ops::read {

namespace {

using stores::SoundEntry;

class NemoAsrStore final : public SampleStore {
 public:
  NemoAsrStore(const std::vector<std::string>& paths, double min_duration, double max_duration) {
    for (const std::string& path : paths) {
      begins_.push_back(size_);
      manifests_.emplace_back(path, min_duration, max_duration);
      size_ += manifests_.back().size();
      fingerprint_ = mix(fingerprint_, manifests_.back().fingerprint(), uint64_t(size_));
    }
  }

  int64_t size() const override { return size_; }
  uint64_t fingerprint() const override { return fingerprint_; }
  std::string name(int64_t i) const override {
    try {
      return entry(i).path;
    } catch (const SampleError&) {
      return line_name(i);
    }
  }
  std::string line_name(int64_t i) const { return manifest(i).name(number(i)); }
  io::Place place(int64_t i) const override { return io::Place::at({entry(i).path}); }

  SoundEntry entry(int64_t i) const { return manifest(i).entry(number(i)); }
  // In its manifest, among the lines that count.
  int64_t number(int64_t i) const { return i - begins_[file(i)]; }

 private:
  size_t file(int64_t i) const {
    const auto next = std::upper_bound(begins_.begin(), begins_.end(), i);
    return static_cast<size_t>(next - begins_.begin()) - 1;
  }
  const stores::SoundManifest& manifest(int64_t i) const { return manifests_[file(i)]; }
  std::vector<stores::SoundManifest> manifests_;
  std::vector<int64_t> begins_;
  int64_t size_ = 0;
  uint64_t fingerprint_ = 0;
};

}  // namespace

struct NemoAsr : ReaderArguments {
  std::vector<std::string> manifest_filepaths;
  float sample_rate = -1, quality = 50, min_duration = 0, max_duration = 0;
  bool downmix = true, read_sample_rate = true, read_text = true, read_idxs = false;
  DType dtype = DType::kFloat32;
  std::shared_ptr<const SignalWeights> weights;

  static constexpr auto kIgnored = kIgnoredReaderArguments;
  static constexpr const char* kSkip = "reads files; tests/readers has its samples";
  static constexpr auto schema = describe(
      "readers.nemo_asr",
      "Reads sounds and their texts, as manifests of NVIDIA NeMo list them.\n\n"
      "Each line of a manifest is an object of JSON: audio_filepath, and perhaps text, offset and "
      "duration in seconds. Relative paths start from the working directory. The sound is decoded "
      "as decoders.audio does it, and where the line says so, only the part of it. A manifest that "
      "cannot be read is an error when the pipeline is built. A line or a sound that is damaged "
      "fails its sample, and so do a line without the text that is asked for and a sound that ends "
      "more than a tenth of a second before the line says.",
      ports(),
      ports({.name = "audio",
             .help = "The sound, of shape (frames,), or (frames, channels) without downmix."},
            {.name = "sample_rate",
             .help = "Frames a second of the file: one number, float32.",
             .when = "read_sample_rate"},
            {.name = "text",
             .help = "The text, uint8 of shape (bytes,), in UTF-8.",
             .when = "read_text"},
            {.name = "idx",
             .help = "The number of the line among those of its manifest that are read, int64 of "
                     "shape (1,).",
             .when = "read_idxs"}),
      arg(&NemoAsr::manifest_filepaths, "manifest_filepaths", "The manifests.", kRequired),
      arg(&NemoAsr::sample_rate, "sample_rate",
          "Frames a second that sounds are resampled to, as audio_resample does it. 0 or less "
          "keeps the rate of the file."),
      arg(&NemoAsr::quality, "quality",
          "Quality of resampling: 0 takes 3 lobes of the sinc, 50 takes 16, 100 takes 64.",
          between(0, 100)),
      arg(&NemoAsr::downmix, "downmix", "Whether all channels become one, their mean."),
      arg(&NemoAsr::dtype, "dtype", "Output dtype of sounds: FLOAT, INT16 or INT32."),
      arg(&NemoAsr::min_duration, "min_duration",
          "Lines with a shorter duration, in seconds, or with none are left out; 0: none is."),
      arg(&NemoAsr::max_duration, "max_duration",
          "Lines with a longer duration, in seconds, are left out; 0: none is."),
      arg(&NemoAsr::read_sample_rate, "read_sample_rate", "Whether sample_rate is an output."),
      arg(&NemoAsr::read_text, "read_text", "Whether text is an output."),
      arg(&NemoAsr::read_idxs, "read_idxs", "Whether idx is an output."), kReaderArguments);

  void prepare() { weights = SignalWeights::of(quality); }

  void check(Checker& c) const {
    check_reader(*this);
    require(!manifest_filepaths.empty(), "argument 'manifest_filepaths' names no file");
    require(dtype == DType::kFloat32 || dtype == DType::kInt16 || dtype == DType::kInt32,
            "argument 'dtype' is ", name_of(dtype), ", expected FLOAT, INT16 or INT32");
    c.out({dtype, {}, Shape::filled(downmix ? 1 : 2, -1)});
    if (read_sample_rate) c.out({DType::kFloat32, {}, {}});
    if (read_text) c.out({DType::kUint8, {}, {-1}});
    if (read_idxs) c.out({DType::kInt64, {}, {1}});
  }

  std::unique_ptr<SampleStore> open() const {
    return stores::while_opening([&] {
      return std::make_unique<NemoAsrStore>(manifest_filepaths, shortest(min_duration),
                                            shortest(max_duration));
    });
  }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }

  void read(Reading& r) const {
    const auto& store = static_cast<const NemoAsrStore&>(r.store);
    const SoundEntry entry = store.entry(r.index);
    const io::Part file = r.parts[0];
    const View encoded = View::dense(const_cast<uint8_t*>(file.data()), DType::kUint8,
                                     {static_cast<int64_t>(file.size())});
    const EncodedSound sound(encoded, {.rate = std::max(sample_rate, 0.0F),
                                       .downmix = downmix,
                                       .offset = entry.offset,
                                       .duration = entry.duration});
    sound.decode(*weights, r.make(0, {dtype, {}, sound.shape()}), {}, r.scratch);
    size_t k = 1;
    if (read_sample_rate) r.give(k++, {DType::kFloat32, {}, {}}, sound.stored_rate());
    if (read_text) {
      if (!entry.text)
        throw SampleError(store.line_name(r.index) +
                          ": the line has no 'text'; with read_text=False none is read");
      const TensorType text{DType::kUint8, {}, {static_cast<int64_t>(entry.text->size())}};
      std::copy(entry.text->begin(), entry.text->end(), r.make(k++, text).as<char>());
    }
    if (read_idxs) r.give(k, {DType::kInt64, {}, {1}}, store.number(r.index));
  }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::NemoAsr)
