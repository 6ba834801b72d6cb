// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "hunt.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <set>

#include "draw/trial.h"
#include "shrink.h"

namespace stoker::torture {

namespace {

// A child ends after so many trials, so that each leak is looked for soon.
constexpr int64_t kTrialsOfChild = 40;

// The first line, without numbers.
std::string kind_of(const std::string& text) {
  std::string kind;
  for (char c : text.substr(0, text.find('\n')))
    if (!std::isdigit(c)) kind += c;
  return kind;
}

// What is common to the reports of a crash: "AddressSanitizer: heap-buffer-overflow".
std::string report_of(const std::string& text) {
  const size_t at = text.find("Sanitizer: ");
  if (at == text.npos) {
    const size_t error = text.find("runtime error: ");
    return error == text.npos ? "" : kind_of(text.substr(error));
  }
  const size_t end = text.find_first_of(" \n(", at + 11);
  return text.substr(at, end - at);
}

class Hunter {
 public:
  Hunter(const Hunt& h, std::ostream& out) : h_(h), out_(out), begun_(Clock::now()) {}

  std::vector<Finding> run() {
    slots_.resize(static_cast<size_t>(h_.jobs));
    while (work()) usleep(1000);
    out_ << "torture: seed " << h_.seed << ", " << tried_ << " trials, " << findings_.size()
         << " findings" << std::endl;
    return std::move(findings_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // A child at work on the trials from `next` on.
  struct Slot {
    int64_t next = 0, end = 0;
    std::unique_ptr<Child> child;
  };

  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  bool is_over() const {
    return seconds_since(begun_) > h_.seconds ||
           static_cast<int>(findings_.size()) >= h_.most_findings;
  }

  // Returns false when nothing is left to do.
  bool work() {
    bool any = false;
    for (Slot& s : slots_) {
      if (!s.child && !is_over()) begin(s);
      if (s.child && is_over()) s.child->board().stop = true;
      if (s.child)
        if (const auto complaint = s.child->poll()) end(s, *complaint);
      any |= s.child || (!is_over() && (s.next < s.end || given_ < h_.trials));
    }
    return any;
  }

  void begin(Slot& s) {
    if (s.next == s.end) {
      s.next = h_.first + given_;
      s.end = s.next + std::min(kTrialsOfChild, h_.trials - given_);
      given_ += s.end - s.next;
    }
    if (s.next < s.end)
      s.child = std::make_unique<Child>([&](Board& b) { try_all(s.next, s.end, b); }, h_.limits);
  }

  // Runs in the child.
  void try_all(int64_t first, int64_t end, Board& board) const {
    for (int64_t n = first; n < end && !board.stop; ++n, ++board.done) {
      board.trial = n;
      const Complaint c = examine(draw_trial(h_.seed, n, h_.operators), [&] { board.begin_way(); });
      if (c.wrong != Wrong::kNothing) return board.complain(c);
    }
    board.trial = -1;
  }

  void end(Slot& s, const Complaint& complaint) {
    const int64_t number = s.child->board().trial, first = s.next;
    tried_ += s.child->board().done + (number >= 0);
    s.next = number >= 0 ? number + 1 : s.end;
    s.child.reset();
    if (complaint.wrong == Wrong::kNothing) return;
    report(number >= 0 ? found(first, number, complaint) : found_at_end(first, s.end, complaint));
  }

  Finding found(int64_t from, int64_t number, const Complaint& complaint) const {
    Finding f{from, number, complaint, draw_trial(h_.seed, number, h_.operators)};
    Limits limits = h_.limits;
    limits.seconds = std::min(limits.seconds, h_.patience);
    const auto shows = [&](const Trial& t, int tries) {
      for (; tries > 0; --tries)
        if (is_same(examine_apart(t, limits), f.complaint)) return true;
      return false;
    };
    const int tries = shows(f.trial, 1) ? 1 : 4;
    f.is_alone = tries == 1 || shows(f.trial, tries);
    if (!f.is_alone) return f;
    const auto begun = Clock::now();
    const auto is_it = [&](const Trial& t) {
      return seconds_since(begun) < h_.seconds_to_shrink && shows(t, tries);
    };
    f.trial = shrunk(std::move(f.trial), is_it);
    const Complaint c = examine_apart(f.trial, limits);
    if (is_same(c, f.complaint)) f.complaint = c;
    return f;
  }

  // A leak shows only when the process ends; then one of its trials has it alone.
  Finding found_at_end(int64_t first, int64_t end, const Complaint& complaint) const {
    for (int64_t n = first; n < end; ++n)
      if (is_same(examine_apart(draw_trial(h_.seed, n, h_.operators), h_.limits), complaint))
        return found(n, n, complaint);
    return {first, end - 1, complaint, draw_trial(h_.seed, end - 1, h_.operators), false};
  }

  bool is_known(const Finding& f) const {
    const auto operators = [](const Finding& of) {
      std::set<std::string> names;
      for (const Node& n : of.trial.nodes) names.insert(n.op);
      return names;
    };
    return std::any_of(findings_.begin(), findings_.end(), [&](const Finding& known) {
      return is_same(known.complaint, f.complaint) && operators(known) == operators(f);
    });
  }

  void report(Finding f) {
    if (is_known(f)) {
      out_ << "torture: again " << in_words(f.complaint.wrong) << " (trial " << f.number << ")"
           << std::endl;
      return;
    }
    out_ << "torture: " << in_words(f.complaint.wrong) << " (seed " << h_.seed << ", trial "
         << f.number << "): " << f.complaint.text << "\n";
    if (f.is_alone) out_ << h_.program << " --replay <<'END'\n" << to_text(f.trial) << "END\n";
    else
      out_ << "Alone it does not show; with the trials before it perhaps:\n"
           << h_.program << " --seed " << h_.seed << " --first " << f.from << " --trials "
           << f.number - f.from + 1 << "\n";
    out_ << std::flush;
    findings_.push_back(std::move(f));
  }

  const Hunt& h_;
  std::ostream& out_;
  const Clock::time_point begun_;
  std::vector<Slot> slots_;
  int64_t given_ = 0, tried_ = 0;
  std::vector<Finding> findings_;
};

}  // namespace

bool is_same(const Complaint& a, const Complaint& b) {
  if (a.wrong != b.wrong) return false;
  if (a.wrong == Wrong::kCrash)
    return kind_of(a.text) == kind_of(b.text) && report_of(a.text) == report_of(b.text);
  if (a.wrong == Wrong::kError) return kind_of(a.text) == kind_of(b.text);
  return true;
}

std::vector<Finding> hunt(const Hunt& h, std::ostream& out) {
  const TemporaryFolder folder;
  return Hunter(h, out).run();
}

TemporaryFolder::TemporaryFolder() {
  if (const char* before = getenv("TMPDIR")) before_ = before;
  path_ = (std::filesystem::temp_directory_path() / "stoker_hunt_XXXXXX").string();
  if (!mkdtemp(path_.data())) throw std::runtime_error("mkdtemp");
  setenv("TMPDIR", path_.c_str(), 1);
}

TemporaryFolder::~TemporaryFolder() {
  before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1);
  std::filesystem::remove_all(path_);
}

}  // namespace stoker::torture
