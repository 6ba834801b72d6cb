// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/origin.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "io/local_files.h"

namespace stoker::io {

namespace {

// The last one has no scheme, and takes all paths that no other takes.
std::vector<const Origin*>& known_origins() {
  static std::vector<const Origin*> all = {&local_files()};
  return all;
}

}  // namespace

const Origin& origin_of(std::string_view path) {
  const auto& all = known_origins();
  return **std::find_if(all.begin(), all.end(),
                        [&](const Origin* o) { return path.starts_with(o->scheme()); });
}

std::shared_ptr<const Object> open(const std::string& path) { return origin_of(path).open(path); }

FolderId list_folder(const std::string& path, const std::function<void(FolderEntry)>& found,
                     int64_t most) {
  return origin_of(path).list(path, found, most);
}

PathInfo look_up(const std::string& path) { return origin_of(path).look_up(path); }

bool is_folder(const std::string& path) {
  try {
    return look_up(path).is_folder;
  } catch (const SampleError&) {
    return false;
  }
}

std::string text_of(const std::string& path) {
  ByteBuffer bytes;
  open(path)->read(bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string join_path(const std::string& folder, const std::string& name) {
  const bool is_whole = name.starts_with('/') || !origin_of(name).scheme().empty();
  if (folder.empty() || is_whole) return name;
  return folder.back() == '/' ? folder + name : folder + "/" + name;
}

WithOrigin::WithOrigin(const Origin& origin) {
  known_origins().insert(known_origins().begin(), &origin);
}

WithOrigin::~WithOrigin() { known_origins().erase(known_origins().begin()); }

}  // namespace stoker::io
