// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Manifests of sounds, as NeMo has them: a line of JSON for each.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "stores/ranges.h"

namespace stoker::stores {

struct SoundEntry {
  std::string path;
  std::optional<std::string> text;
  double offset = 0;  // in seconds
  double duration = -1;  // in seconds; negative: up to the end
};

// What a line says. Throws SampleError where it is no JSON, has a member of another type, or lacks
// "audio_filepath".
SoundEntry parse_sound_entry(std::string_view line);

// Immutable.
class SoundManifest {
 public:
  // Leaves out lines whose duration is below `min_duration` or above `max_duration`, where these
  // are not 0. An unknown duration is below any other. Empty lines never count, and lines that
  // cannot be parsed always do. Throws what opening the file throws.
  SoundManifest(std::string path, double min_duration, double max_duration);

  int64_t size() const { return static_cast<int64_t>(begins_.size()); }
  // Of what the lines say, with the names of files but not of their folders.
  uint64_t fingerprint() const { return fingerprint_; }
  // "a.json at byte 7"
  std::string name(int64_t i) const;
  // Throws SampleError that names the place in the manifest.
  SoundEntry entry(int64_t i) const;

 private:
  std::string_view line(size_t begin) const;

  std::string path_, text_;
  std::vector<size_t> begins_;
  uint64_t fingerprint_ = 0;
};

}  // namespace stoker::stores
