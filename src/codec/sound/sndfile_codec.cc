// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of WAV, FLAC, Ogg, AIFF and AU, by sndfile (libsndfile1-dev).
#include <sndfile.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "codec/sound/data_chunk.h"
#include "codec/sound/ogg_pages.h"
#include "codec/sound/sound.h"

namespace stoker {
namespace {

const char* format_name(int format) {
  switch (format & SF_FORMAT_TYPEMASK) {
    case SF_FORMAT_FLAC: return "FLAC";
    case SF_FORMAT_OGG: return "Ogg";
    case SF_FORMAT_AIFF: return "AIFF";
    case SF_FORMAT_AU: return "AU";
    default: return "WAV";
  }
}

bool holds_integers(int format) {
  switch (format & SF_FORMAT_SUBMASK) {
    case SF_FORMAT_FLOAT:
    case SF_FORMAT_DOUBLE:
    case SF_FORMAT_VORBIS:
    case SF_FORMAT_OPUS: return false;
    default: return true;
  }
}

// Whether each number has a place of its own, to seek. Else what precedes is decoded.
bool is_plain(int format) {
  const int type = format & SF_FORMAT_TYPEMASK, coding = format & SF_FORMAT_SUBMASK;
  return type != SF_FORMAT_FLAC && coding <= SF_FORMAT_ALAW && coding > 0;
}

class SndfileSound final : public OpenSound {
 public:
  explicit SndfileSound(EncodedSpan bytes) : file_{bytes} {
    check_ogg_pages(bytes);
    check_data_chunk(bytes);
    open();
    info_.format = format_name(header_.format);
    info_.channels = header_.channels;
    info_.rate = header_.samplerate;
    info_.is_integer = holds_integers(header_.format);
    // A stream may not say how long it is.
    info_.frames = header_.frames == SF_COUNT_MAX ? counted() : header_.frames;
    if (info_.frames < 0 || info_.frames > kMostNumbers / info_.channels)
      throw SampleError(std::string(info_.format) + " audio claims " +
                        std::to_string(info_.frames) + " frames of " +
                        std::to_string(info_.channels) + " channels, more than the limit of " +
                        std::to_string(kMostNumbers) + " numbers");
  }

  const SoundInfo& info() const override { return info_; }

  void read(int64_t begin, int64_t count, DType dtype, void* out) override {
    if (count == 0) return;
    go_to(begin);
    sf_count_t got = 0;
    switch (dtype) {
      case DType::kInt16:
        got = sf_readf_short(sound_.get(), static_cast<short*>(out), count);
        break;
      case DType::kInt32: got = sf_readf_int(sound_.get(), static_cast<int*>(out), count); break;
      default: got = sf_readf_float(sound_.get(), static_cast<float*>(out), count);
    }
    advance(got, count);
  }

 private:
  struct Close {
    void operator()(SNDFILE* s) const { sf_close(s); }
  };

  // The library takes a file that was cut off for a shorter sound, and may believe a size that is
  // none: Note [Sizes that are not known].
  void check_data_chunk(EncodedSpan bytes) {
    const auto data = find_data_chunk(bytes);
    if (!data) return;
    patch_ = data->patch;
    if (patch_) file_.patch = &*patch_;
    if (!data->size) return;
    if (data->is_amid_others)
      throw SampleError(std::string(data->format) + " audio says that its samples take " +
                            std::to_string(*data->size) +
                            " bytes, and what follows them is no chunk",
                        static_cast<int64_t>(data->begin + *data->size));
    if (*data->size > bytes.size() - data->begin)
      throw SampleError(std::string(data->format) + " audio ends after " +
                            std::to_string(bytes.size()) + " bytes, expected " +
                            std::to_string(data->begin + *data->size),
                        static_cast<int64_t>(bytes.size()));
  }

  void open() {
    static SF_VIRTUAL_IO io{
        .get_filelen = [](void* f) -> sf_count_t { return static_cast<BytesAsFile*>(f)->size(); },
        .seek = [](sf_count_t offset, int whence, void* f) -> sf_count_t {
          return static_cast<BytesAsFile*>(f)->seek(offset, whence);
        },
        .read = [](void* to, sf_count_t count, void* f) -> sf_count_t {
          return static_cast<BytesAsFile*>(f)->read(to, count);
        },
        .write = [](const void*, sf_count_t, void*) -> sf_count_t { return 0; },
        .tell = [](void* f) -> sf_count_t { return static_cast<BytesAsFile*>(f)->at; }};
    sound_.reset();
    file_.at = 0;
    at_ = 0;
    header_ = {};
    sound_.reset(sf_open_virtual(&io, SFM_READ, &header_, &file_));
    if (!sound_)
      throw SampleError("cannot read the header of the sound: " + std::string(sf_strerror(nullptr)),
                        file_.at);
    if (header_.channels < 1 || header_.samplerate < 1)
      throw SampleError("the sound claims " + std::to_string(header_.channels) + " channels and " +
                            std::to_string(header_.samplerate) + " frames a second",
                        file_.at);
    // Where a header claims that the samples begin inside it, they are had by seeking alone.
    if (is_plain(header_.format)) at_ = -1;
    // Floats that become integers are scaled here, by our own rules.
    sf_command(sound_.get(), SFC_SET_NORM_FLOAT, nullptr, SF_TRUE);
  }

  int64_t counted() {
    std::vector<float> some(static_cast<size_t>(kSkipped * header_.channels));
    int64_t all = 0;
    while (const sf_count_t got = sf_readf_float(sound_.get(), some.data(), kSkipped)) all += got;
    open();
    return all;
  }

  void go_to(int64_t begin) {
    if (begin == at_) return;
    if (is_plain(header_.format)) {
      if (sf_seek(sound_.get(), begin, SEEK_SET) != begin)
        throw SampleError(text("has no frame " + std::to_string(begin)), file_.at);
      at_ = begin;
      return;
    }
    if (begin < at_) open();
    std::vector<float> skipped(static_cast<size_t>(kSkipped * info_.channels));
    while (at_ < begin) {
      const int64_t count = std::min(begin - at_, kSkipped);
      advance(sf_readf_float(sound_.get(), skipped.data(), count), count);
    }
  }

  void advance(sf_count_t got, int64_t wanted) {
    at_ += got;
    if (sf_error(sound_.get()) != SF_ERR_NO_ERROR)
      throw SampleError(
          text("is damaged at frame " + std::to_string(at_) + ": " + sf_strerror(sound_.get())),
          file_.at);
    if (got < wanted)
      throw SampleError(text("ends at frame " + std::to_string(at_) + ", expected " +
                             std::to_string(info_.frames)),
                        file_.at);
  }
  std::string text(const std::string& what) const {
    return std::string(info_.format) + " audio " + what;
  }

  static constexpr int64_t kSkipped = 4096;
  std::optional<Patch> patch_;
  BytesAsFile file_;
  SF_INFO header_ = {};
  std::unique_ptr<SNDFILE, Close> sound_;
  int64_t at_ = 0;  // the frame that is read next; -1: whatever it is, it has to be sought
  SoundInfo info_;
};

class SndfileCodec final : public SoundCodec {
 public:
  bool recognises(EncodedSpan bytes) const override {
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const bool is_iff = all.starts_with("RIFF") || all.starts_with("RIFX") ||
                        all.starts_with("RF64") || all.starts_with("FORM");
    if (is_iff && all.size() >= 12) {
      const std::string_view kind = all.substr(8, 4);
      return kind == "WAVE" || kind == "AIFF" || kind == "AIFC";
    }
    return all.starts_with("fLaC") || all.starts_with("OggS") || all.starts_with(".snd") ||
           all.starts_with("ID3");
  }
  std::unique_ptr<OpenSound> open(EncodedSpan bytes) const override {
    return std::make_unique<SndfileSound>(bytes);
  }
};

}  // namespace
}  // namespace stoker

STOKER_SOUND_CODEC(stoker::SndfileCodec)
