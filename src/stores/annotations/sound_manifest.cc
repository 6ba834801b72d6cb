// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/annotations/sound_manifest.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "base/hash.h"

namespace stoker::stores {

namespace json = simdjson::ondemand;

namespace {

uint64_t identity(const SoundEntry& e) {
  return mix(hash64(std::filesystem::path(e.path).filename().string()), hash64(e.text.value_or("")),
             std::bit_cast<uint64_t>(e.offset), std::bit_cast<uint64_t>(e.duration));
}

}  // namespace

SoundEntry parse_sound_entry(std::string_view line) {
  SoundEntry entry;
  bool has_path = false;
  json::parser parser;
  const simdjson::padded_string padded(line);
  try {
    json::document document = parser.iterate(padded);
    for (auto field : document.get_object()) {
      const std::string_view key = field.unescaped_key();
      json::value value = field.value();
      if (value.is_null()) continue;
      if (key == "audio_filepath") entry.path = value.get_string().value(), has_path = true;
      else if (key == "text") entry.text = std::string(value.get_string().value());
      else if (key == "offset") entry.offset = value.get_double();
      else if (key == "duration") entry.duration = value.get_double();
    }
    const char* rest = nullptr;
    if (document.current_location().get(rest) == simdjson::SUCCESS)
      throw SampleError("there is more in it than one object");
  } catch (const simdjson::simdjson_error& e) {
    switch (e.error()) {
      case simdjson::INCORRECT_TYPE:
        throw SampleError("a value is of another type than expected here");
      case simdjson::NUMBER_ERROR:
        throw SampleError("a number is out of range, or no number of JSON");
      default: throw SampleError("it is no object of JSON");
    }
  }
  if (!has_path || entry.path.empty()) throw SampleError("'audio_filepath' is missing");
  return entry;
}

SoundManifest::SoundManifest(std::string path, double min_duration, double max_duration)
    : path_(std::move(path)), text_(io::text_of(path_)) {
  // Blanks in its place leave all offsets as they are.
  if (text_.starts_with(kByteOrderMark)) std::fill_n(text_.begin(), kByteOrderMark.size(), ' ');
  const auto counts = [&](std::string_view line) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return false;
    try {
      const SoundEntry e = parse_sound_entry(line);
      if (min_duration > 0 && e.duration < min_duration) return false;
      if (max_duration > 0 && e.duration > max_duration) return false;
      fingerprint_ = mix(fingerprint_, identity(e));
      return true;
    } catch (const SampleError&) {  // reading the sample throws it again
      fingerprint_ = mix(fingerprint_, hash64(line));
      return true;
    }
  };
  for (size_t at = 0; at < text_.size(); at += line(at).size() + 1)
    if (counts(line(at))) begins_.push_back(at);
}

std::string_view SoundManifest::line(size_t begin) const {
  return std::string_view(text_).substr(begin, text_.find('\n', begin) - begin);
}

std::string SoundManifest::name(int64_t i) const {
  return path_ + " at byte " + std::to_string(begins_[static_cast<size_t>(i)]);
}

SoundEntry SoundManifest::entry(int64_t i) const {
  const size_t begin = begins_[static_cast<size_t>(i)];
  try {
    return parse_sound_entry(line(begin));
  } catch (const SampleError& e) {
    refuse(path_, static_cast<int64_t>(begin), std::string("this line is damaged: ") + e.what());
  }
}

}  // namespace stoker::stores
