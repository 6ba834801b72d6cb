// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of MP3, by libmpg123 (libmpg123-dev).
//
// libsndfile uses the same library, but takes its estimate for the length: where no header counts
// the frames, it loses some or promises too many.
#include <mpg123.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "codec/sound/bytes_as_file.h"
#include "codec/sound/sound.h"

namespace stoker {
namespace {

// Whether a frame of layer III begins here.
bool is_frame(EncodedSpan b, size_t at) {
  return b.size() >= at + 4 && b[at] == 0xFF && (b[at + 1] & 0xE6) == 0xE2 &&
         (b[at + 1] & 0x18) != 0x08 && (b[at + 2] & 0xF0) != 0xF0 && (b[at + 2] & 0x0C) != 0x0C;
}

// Whether the bytes begin with tags, as MP3 files and others may.
bool begins_with_tags(EncodedSpan bytes) {
  if (bytes.size() < 10 || !std::equal(bytes.begin(), bytes.begin() + 3, "ID3")) return false;
  size_t end = 0;  // seven bits a byte
  for (size_t i = 6; i < 10; ++i) end = end << 7 | (bytes[i] & 0x7F);
  end += bytes[5] & 0x10 ? 20 : 10;
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return end >= all.size() || !all.substr(end).starts_with("fLaC");
}

// Note [The length of an MP3]
// An MP3 is a row of frames, and nothing has to say how many. Programs that can go back to its
// front put a frame there that holds the count, and the name Xing, Info or VBRI:
//
//   [ID3v2] | frame: header, "Info", count | frame | frame | ... | [ID3v1, APE, Lyrics]
//
// Such a count is a promise: a file that has fewer frames was cut off, and so was one that ends
// within a frame. Where a file has more frames, as several sounds one behind the other have, or no
// count at all, every frame is decoded.

// Whether the frame that ends at `end` holds a count. Its place depends on version and channels.
bool has_count(EncodedSpan bytes, size_t end) {
  constexpr size_t kLargestFrame = 2881;
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), end);
  for (size_t at = end > kLargestFrame ? end - kLargestFrame : 0; at < end; ++at) {
    if (!is_frame(bytes, at)) continue;
    const bool is_first_version = (bytes[at + 1] & 0x18) == 0x18;
    const bool is_mono = (bytes[at + 3] & 0xC0) == 0xC0;
    const size_t side = is_first_version ? (is_mono ? 17 : 32) : (is_mono ? 9 : 17);
    for (const size_t checksum : {0, 2}) {
      const std::string_view name = all.substr(std::min(end, at + 4 + checksum + side), 4);
      if (name == "Xing" || name == "Info") return true;
    }
    if (all.substr(std::min(end, at + 36), 4) == "VBRI") return true;
  }
  return false;
}

class Mp3Sound final : public OpenSound {
 public:
  explicit Mp3Sound(EncodedSpan bytes) : file_{bytes} {
    open();
    long rate = 0;
    int encoding = 0;
    if (mpg123_getformat(mp3_.get(), &rate, &info_.channels, &encoding) != MPG123_OK)
      throw SampleError("cannot read the header of the sound: it holds no frame of MP3", 0);
    info_.format = "MP3";
    info_.rate = static_cast<int>(rate);
    measure();
  }

  const SoundInfo& info() const override { return info_; }

  void read(int64_t begin, int64_t count, DType /*float32*/, void* out) override {
    if (count == 0) return;
    if (begin < at_) open();
    std::vector<float> skipped(static_cast<size_t>(std::min(begin - at_, kSkipped)) *
                               static_cast<size_t>(info_.channels));
    while (at_ < begin) decode(skipped.data(), std::min(begin - at_, kSkipped));
    decode(static_cast<float*>(out), count);
  }

 private:
  static constexpr int64_t kSkipped = 4096;

  struct Delete {
    void operator()(mpg123_handle* h) const { mpg123_delete(h); }
  };

  void open() {
    static const int ready = mpg123_init();
    if (ready != MPG123_OK) throw SampleError(std::string("MP3: ") + mpg123_plain_strerror(ready));
    file_.at = 0;
    at_ = 0;
    mp3_.reset(mpg123_new(nullptr, nullptr));
    if (!mp3_) throw SampleError("MP3: there is no memory for a decoder");
    mpg123_param(mp3_.get(), MPG123_REMOVE_FLAGS, MPG123_AUTO_RESAMPLE, 0);
    mpg123_param(mp3_.get(), MPG123_ADD_FLAGS, MPG123_FORCE_FLOAT | MPG123_QUIET, 0);
    mpg123_param(mp3_.get(), MPG123_INDEX_SIZE, -4096, 0);  // it grows by so many
    mpg123_replace_reader_handle(
        mp3_.get(),
        [](void* f, void* to, size_t count) {
          return static_cast<ssize_t>(
              static_cast<BytesAsFile*>(f)->read(to, static_cast<int64_t>(count)));
        },
        [](void* f, off_t offset, int whence) {
          return static_cast<off_t>(static_cast<BytesAsFile*>(f)->seek(offset, whence));
        },
        nullptr);
    if (mpg123_open_handle(mp3_.get(), &file_) != MPG123_OK) refuse();
  }

  // Note [The length of an MP3]
  void measure() {
    const int64_t claimed = mpg123_length(mp3_.get());
    const auto first = static_cast<size_t>(std::max<off_t>(mpg123_framepos(mp3_.get()), 0));
    const bool is_promise = has_count(file_.bytes, std::min(first, file_.bytes.size()));
    if (mpg123_scan(mp3_.get()) != MPG123_OK) refuse();
    info_.frames = std::max<int64_t>(mpg123_length(mp3_.get()), 0);
    // What is missing counts, so that reading it is an error.
    if (is_promise && info_.frames < claimed) info_.frames = claimed;
    else if (ends_within_frame()) info_.frames += mpg123_spf(mp3_.get());
    if (info_.frames > kMostNumbers / info_.channels)
      throw SampleError("MP3 audio of " + std::to_string(info_.frames) + " frames of " +
                        std::to_string(info_.channels) + " channels is more than the limit of " +
                        std::to_string(kMostNumbers) + " numbers");
    open();
  }

  // Requires: all frames were scanned.
  bool ends_within_frame() {
    off_t* places = nullptr;
    off_t apart = 0;
    size_t count = 0;
    if (mpg123_index(mp3_.get(), &places, &apart, &count) != MPG123_OK || count == 0) return false;
    const off_t last = places[count - 1];
    mpg123_seek_frame(mp3_.get(), static_cast<off_t>(count - 1) * apart, SEEK_SET);
    off_t end = last;
    while (mpg123_framebyframe_next(mp3_.get()) == MPG123_OK) {
      mpg123_frameinfo frame;
      mpg123_info(mp3_.get(), &frame);
      end = mpg123_framepos(mp3_.get()) + frame.framesize;
    }
    return is_frame(file_.bytes, static_cast<size_t>(end));
  }

  // Decodes the next frames.
  void decode(float* out, int64_t count) {
    const size_t frame = sizeof(float) * static_cast<size_t>(info_.channels);
    const size_t wanted = static_cast<size_t>(count) * frame;
    for (size_t got = 0; got < wanted;) {
      size_t more = 0;
      const int status =
          mpg123_read(mp3_.get(), reinterpret_cast<unsigned char*>(out) + got, wanted - got, &more);
      got += more;
      at_ += static_cast<int64_t>(more / frame);
      if (status == MPG123_NEW_FORMAT) check_format();
      else if (status == MPG123_DONE && got < wanted)
        throw SampleError("MP3 audio ends at frame " + std::to_string(at_) + ", expected " +
                              std::to_string(info_.frames),
                          file_.at);
      else if (status != MPG123_OK && status != MPG123_DONE) refuse();
    }
  }

  // Frames of another kind may follow, as where two sounds were joined.
  void check_format() const {
    long rate = 0;
    int channels = 0, encoding = 0;
    mpg123_getformat(mp3_.get(), &rate, &channels, &encoding);
    if (rate != info_.rate || channels != info_.channels)
      throw SampleError("MP3 audio of " + std::to_string(info_.channels) + " channels and " +
                            std::to_string(info_.rate) + " frames a second becomes one of " +
                            std::to_string(channels) + " and " + std::to_string(rate) +
                            " at frame " + std::to_string(at_),
                        file_.at);
  }

  [[noreturn]] void refuse() const {
    throw SampleError(
        "MP3 audio is damaged at frame " + std::to_string(at_) + ": " + mpg123_strerror(mp3_.get()),
        file_.at);
  }

  BytesAsFile file_;
  std::unique_ptr<mpg123_handle, Delete> mp3_;
  int64_t at_ = 0;  // the frame that is read next
  SoundInfo info_;
};

class Mpg123Codec final : public SoundCodec {
 public:
  bool recognises(EncodedSpan bytes) const override {
    return is_frame(bytes, 0) || begins_with_tags(bytes);
  }
  std::unique_ptr<OpenSound> open(EncodedSpan bytes) const override {
    return std::make_unique<Mp3Sound>(bytes);
  }
};

}  // namespace
}  // namespace stoker

STOKER_SOUND_CODEC(stoker::Mpg123Codec)
