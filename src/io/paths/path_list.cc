// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/paths/path_list.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "base/hash.h"
#include "io/paths/folder_search.h"

namespace stoker::io {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// Short and without control characters, as the line is foreign.
std::string shown_piece(std::string_view s) {
  std::string piece = shortened(s, 80);
  for (char& c : piece)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return "'" + piece + "'";
}

std::string_view without_blanks(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

// What may be spent on files that are only counted: at most 1000 folders are opened.
constexpr int64_t kCounting = 1000 * kOpening;

// Which folders of a root are classes, and what else is there.
struct Classes {
  FolderId root;
  std::vector<std::string> folders;  // sorted
  std::vector<std::string> loose;  // files
  Tally hidden;
  int64_t other_folders = 0;
};

Classes classes_of(const PathListSpec& spec) {
  const std::vector<Glob> wanted = globs_of(spec.dir_filters, spec.case_sensitive_filter);
  Classes c;
  c.root = list_root(spec.file_root, [&](FolderEntry e) {
    if (!e.is_folder) c.loose.push_back(std::move(e.name));
    else if (wanted.empty() && is_hidden(e.name)) c.hidden.add(e.name);
    else if (!wanted.empty() && !any_matches(wanted, e.name)) ++c.other_folders;
    else c.folders.push_back(std::move(e.name));
  });
  std::ranges::sort(c.folders);
  return c;
}

// Tells of classes that are one folder, by links.
class LinkedTwice {
 public:
  explicit LinkedTwice(FolderId root) { known_.emplace(key(root), "."); }
  void add(FolderId id, const std::string& folder) {
    const auto [other, is_new] = known_.emplace(key(id), folder);
    if (!is_new) found_.add(other->second + "' and '" + folder);
  }
  const Tally& found() const { return found_; }

 private:
  static std::pair<uint64_t, uint64_t> key(FolderId id) { return {id.device, id.number}; }
  std::map<std::pair<uint64_t, uint64_t>, std::string> known_;
  Tally found_;
};

}  // namespace

// Remembers folders to find them again.
class PathList::Builder {
 public:
  explicit Builder(PathList& list) : l_(list) {}

  void scan(const PathListSpec& spec);
  void load(const PathListSpec& spec);
  void take(const PathListSpec& spec);
  void parse(std::string_view text, const std::string& shown);
  void tell_contradictions();
  void finish();

 private:
  void reserve(double times);
  size_t parse_lines(std::string_view text, bool is_end, const std::string& shown);
  void require_files(const std::string& shown) const;
  [[noreturn]] void refuse_empty(const PathListSpec& spec, const Classes& classes,
                                 const Found& taken, const std::string& told) const;
  void add(std::string_view name, int32_t label);
  void parse_line(std::string_view line, const std::string& shown);
  uint32_t folder(std::string_view prefix);

  PathList& l_;
  int64_t line_ = 0;  // number of the text's last line that was parsed
  std::unordered_map<std::string, uint32_t> known_;
  std::string last_;  // the last folder: lists are mostly sorted, so it mostly comes again
  uint32_t last_number_ = 0;
};

uint32_t PathList::Builder::folder(std::string_view prefix) {
  if (!l_.folders_.empty() && prefix == last_) return last_number_;
  last_ = prefix;
  const auto [at, fresh] = known_.emplace(last_, static_cast<uint32_t>(l_.folders_.size()));
  // A name is joined to the folder and taken off, so that a root without a slash gets one.
  if (fresh) {
    std::string joined = join_path(l_.root_, last_ + "x");
    joined.pop_back();
    l_.folders_.push_back(std::move(joined));
  }
  return last_number_ = at->second;
}

void PathList::Builder::add(std::string_view name, int32_t label) {
  size_t cut = last_.size();
  if (!name.starts_with(last_) || name.find('/', cut) != std::string_view::npos)
    cut = name.rfind('/') + 1;  // 0 without a slash
  l_.folder_.push_back(folder(name.substr(0, cut)));
  l_.names_.append(name.substr(cut));
  l_.ends_.push_back(l_.names_.size());
  l_.labels_.push_back(label);
}

// Reserves room for `times` the present size, so that a long list does not grow step by step.
void PathList::Builder::reserve(double times) {
  const auto room = [&](auto& c) {
    c.reserve(static_cast<size_t>(times * static_cast<double>(c.size())));
  };
  room(l_.names_), room(l_.ends_), room(l_.folder_), room(l_.labels_);
}

void PathList::Builder::finish() {
  const auto fit = [](auto& c) {
    if (c.capacity() > c.size() + c.size() / 16) c.shrink_to_fit();
  };
  fit(l_.names_), fit(l_.ends_), fit(l_.folder_), fit(l_.labels_), fit(l_.folders_);
}

// Warns of files that a list names more than once, with several labels.
void PathList::Builder::tell_contradictions() {
  const size_t size = l_.labels_.size();
  const auto name = [&](uint32_t i) {
    const uint64_t begin = i == 0 ? 0 : l_.ends_[i - 1];
    return std::string_view(l_.names_).substr(begin, l_.ends_[i] - begin);
  };
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> known(std::bit_ceil(2 * size + 1), kNone);  // by hash; at most half full
  Tally twice;
  for (uint32_t i = 0; i < size; ++i) {
    size_t at = mix(hash64(name(i)), l_.folder_[i]);
    const auto slot = [&]() -> uint32_t& { return known[at & (known.size() - 1)]; };
    const auto is_same = [&](uint32_t k) {
      return l_.folder_[k] == l_.folder_[i] && name(k) == name(i);
    };
    while (slot() != kNone && !is_same(slot())) ++at;
    if (slot() == kNone) slot() = i;
    else if (l_.labels_[slot()] != l_.labels_[i]) twice.add(l_.path(i));
  }
  if (twice.count()) l_.warning_ = "names " + twice.in_words("file") + " again with another label";
}

void PathList::Builder::scan(const PathListSpec& spec) {
  const Classes classes = classes_of(spec);
  const FolderSearch search(l_.root_, spec.file_filters, spec.case_sensitive_filter,
                            spec.file_filters != usual_patterns());
  Found taken, left_out;
  left_out.effort = kCounting;
  Tally empty, loose;
  LinkedTwice linked_twice(classes.root);
  for (size_t label = 0; label < classes.folders.size(); ++label) {
    const std::string& name = classes.folders[label];
    const size_t nested = left_out.files.size();
    linked_twice.add(search.look(name, taken, spec.recursive ? taken : left_out, {classes.root}),
                     name);
    for (const auto& [folder, names] : taken.files)
      for (const std::string& n : names) add(folder + "/" + n, static_cast<int32_t>(label));
    if (taken.files.empty() && left_out.files.size() == nested) empty.add(name);
    taken.files.clear();
  }
  std::vector<std::string> told;
  const auto tell = [&](const Tally& t, const char* before, const char* what, const char* after) {
    if (t.count()) told.push_back(before + t.in_words(what) + after);
  };
  tell(classes.hidden, "leaves out ", "hidden folder",
       ", of which only dir_filters would make a class");
  for (std::string& s : taken.surprises("file_filters")) told.push_back(std::move(s));
  if (!left_out.files.empty())
    told.push_back("leaves out " + left_out.in_words(l_.root_) + "; recursive=True takes them too");
  if (l_.labels_.empty()) refuse_empty(spec, classes, taken, joined_by("; ", told));
  for (const std::string& file : classes.loose)
    if (search.takes(file)) loose.add(file);
  tell(loose, "leaves out ", "file", " in file_root itself, of no class");
  tell(empty, "counts ", "folder", " as a class of its own, though no such file is in it");
  tell(linked_twice.found(), "makes two classes of ", "folder", " as a link leads there");
  l_.warning_ = joined_by("; ", told);
}

void PathList::Builder::refuse_empty(const PathListSpec& spec, const Classes& classes,
                                     const Found& taken, const std::string& told) const {
  const size_t loose = classes.loose.size();
  if (classes.folders.empty() && classes.other_folders == 0 && loose > 0)
    throw GraphError("file_root '" + l_.root_ + "' holds " + std::to_string(loose) +
                     " files but no folders. Put them into folders, one per class, or give files=");
  throw GraphError("file_root: no files in the sub-folders of '" + l_.root_ + "'. Looked for " +
                   joined_by(", ", spec.file_filters) +
                   (spec.dir_filters.empty()
                        ? ""
                        : " in sub-folders named " + joined_by(", ", spec.dir_filters)) +
                   "; found " + counted(classes.folders.size(), "sub-folder") + " with " +
                   std::to_string(taken.others) + " other entries, " +
                   counted(static_cast<size_t>(classes.other_folders), "sub-folder") +
                   " of other names, " + counted(loose, "file") + " outside of sub-folders" +
                   (told.empty() ? "" : "; the reader " + told));
}

void PathList::Builder::load(const PathListSpec& spec) {
  int64_t piece = 1 << 20;
  ByteBuffer buffer;
  try {
    const auto file = open(spec.file_list);
    for (int64_t at = 0; at < file->size() || at == 0;) {
      const int64_t length = std::min(piece, file->size() - at);
      file->read(buffer, at, length);
      std::string_view text(reinterpret_cast<const char*>(buffer.data()), buffer.size());
      const bool is_end = at + length == file->size();
      const auto used = static_cast<int64_t>(parse_lines(text, is_end, spec.file_list));
      if (is_end) break;
      if (at == 0 && used)
        reserve(1.02 * static_cast<double>(file->size()) / static_cast<double>(used));
      at += used;
      if (used == 0) piece *= 2;  // the line is longer than the piece
    }
  } catch (const SampleError& e) {
    throw GraphError(std::string("file list: ") + e.what());
  }
  require_files(spec.file_list);
}

void PathList::Builder::take(const PathListSpec& spec) {
  if (!spec.labels.empty() && spec.labels.size() != spec.files.size())
    throw GraphError("file list: one label per file is needed, got " +
                     std::to_string(spec.labels.size()) + " labels for " +
                     std::to_string(spec.files.size()) + " files");
  if (spec.files.size() > INT32_MAX)
    throw GraphError("file list: at most 2^31 - 1 files, got " + std::to_string(spec.files.size()));
  for (size_t i = 0; i < spec.files.size(); ++i) {
    if (spec.files[i].empty())
      throw GraphError("file list: the name of file " + std::to_string(i) + " is empty");
    add(spec.files[i], spec.labels.empty() ? static_cast<int32_t>(i) : spec.labels[i]);
  }
}

void PathList::Builder::parse(std::string_view text, const std::string& shown) {
  parse_lines(text, true, shown);
  require_files(shown);
}

// Parses the whole lines of a text and, at its end, also what follows the last line break. Returns
// the number of bytes parsed.
size_t PathList::Builder::parse_lines(std::string_view text, bool is_end,
                                      const std::string& shown) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos && !is_end) break;
    std::string_view line = text.substr(at, end - at);
    if (line_++ == 0 && line.starts_with("\xef\xbb\xbf"))
      line.remove_prefix(3);  // the byte order mark that some editors write
    parse_line(line, shown);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return at;
}

void PathList::Builder::require_files(const std::string& shown) const {
  if (l_.labels_.empty())
    throw GraphError("file list: " + shown + " names no files: all of its " +
                     std::to_string(line_) + " lines are empty");
}

void PathList::Builder::parse_line(std::string_view whole, const std::string& shown) {
  const std::string_view line = without_blanks(whole);
  if (line.empty()) return;
  const auto refuse = [&](const std::string& why) {
    throw GraphError("file list: " + shown + ":" + std::to_string(line_) + ": " + why + ", got " +
                     shown_piece(line));
  };
  size_t begin = line.size();  // where the label begins
  while (begin > 0 && !is_blank(line[begin - 1])) --begin;
  if (begin == 0) refuse("expected a name and a label");
  const std::string_view token = line.substr(begin);
  int32_t label = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), label);
  if (error != std::errc() || end != token.data() + token.size())
    refuse("the label " + shown_piece(token) +
           " is not a whole number of 32 bits; fn.readers.csv reads texts");
  const std::string_view name = without_blanks(line.substr(0, begin));
  if (name.find('\0') != std::string_view::npos) refuse("the name holds a zero byte");
  if (name.back() == '/') refuse("the name is that of a folder");
  add(name, label);
}

PathList::PathList(const PathListSpec& spec) : root_(spec.file_root) {
  if (!spec.files.empty() && !spec.file_list.empty())
    throw GraphError("file list: 'files' and 'file_list' exclude each other");
  if (spec.files.empty() && !spec.labels.empty())
    throw GraphError("file list: 'labels' needs 'files'");
  Builder builder(*this);
  if (!spec.files.empty()) {
    builder.take(spec);
    if (!spec.labels.empty()) builder.tell_contradictions();
  } else if (!spec.file_list.empty()) {
    if (root_.empty()) root_ = spec.file_list.substr(0, spec.file_list.rfind('/') + 1);
    builder.load(spec);
    builder.tell_contradictions();
  } else if (!root_.empty()) {
    builder.scan(spec);
  } else {
    throw GraphError("file list: one of 'file_root', 'file_list' and 'files' is needed");
  }
  builder.finish();
}

PathList PathList::parse(std::string_view text, const std::string& shown, const std::string& root) {
  PathList list;
  list.root_ = root;
  Builder builder(list);
  builder.parse(text, shown);
  builder.finish();
  return list;
}

std::string PathList::path(int64_t i) const {
  const auto n = static_cast<size_t>(i);
  const uint64_t begin = n == 0 ? 0 : ends_[n - 1];
  const std::string& folder = folders_[folder_[n]];
  std::string path;
  path.reserve(folder.size() + ends_[n] - begin);
  path.append(folder).append(names_, begin, ends_[n] - begin);
  return path;
}

size_t PathList::bytes() const {
  size_t sum = names_.capacity() + ends_.capacity() * sizeof(uint64_t) +
               folder_.capacity() * sizeof(uint32_t) + labels_.capacity() * sizeof(int32_t) +
               folders_.capacity() * sizeof(std::string);
  for (const std::string& f : folders_) sum += f.capacity();
  return sum;
}

uint64_t PathList::fingerprint() const {
  std::vector<uint64_t> folders;
  for (const std::string& f : folders_) {
    const bool is_below = !root_.empty() && f.starts_with(root_);
    folders.push_back(hash64(is_below ? std::string_view(f).substr(root_.size()) : ""));
  }
  uint64_t h = hash64(names_);
  for (size_t i = 0; i < labels_.size(); ++i)
    h = mix(h, folders[folder_[i]], ends_[i], static_cast<uint64_t>(labels_[i]));
  return h;
}

std::vector<std::string> names_listed(const std::string& path) {
  ByteBuffer buffer;
  try {
    open(path)->read(buffer);
  } catch (const SampleError& e) {
    throw GraphError(std::string("file list: ") + e.what());
  }
  std::string_view text(reinterpret_cast<const char*>(buffer.data()), buffer.size());
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<std::string> names;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view name = without_blanks(text.substr(at, end - at));
    if (!name.empty()) names.emplace_back(name);
    at = end + 1;
  }
  if (names.empty()) throw GraphError("file list: " + path + " names no files");
  return names;
}

std::vector<std::string> class_folders(const PathListSpec& spec) {
  return classes_of(spec).folders;
}

}  // namespace stoker::io
