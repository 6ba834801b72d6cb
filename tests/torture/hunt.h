// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs random trials, several at once, and makes small what is found.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

#include "child.h"

namespace stoker::torture {

struct Hunt {
  uint64_t seed = 1;
  double seconds = 60;
  int64_t first = 0, trials = INT64_MAX;  // the numbers first, first + 1 and so on
  int jobs = 1;
  int most_findings = 5;  // then the hunt ends
  double seconds_to_shrink = 60;  // for making one finding smaller
  double patience = 5;  // seconds until a smaller trial counts as hanging
  std::vector<std::string> operators;  // to draw from; none: all
  Limits limits;
  std::string program = "torture";  // how a finding's text says to run it
};

struct Finding {
  int64_t from, number;  // of the child's first trial, and of this one
  Complaint complaint;
  Trial trial;  // as small as it could be made
  bool is_alone = true;  // false: it shows only in a process that ran those before it, or by luck
};

// Prints what is found, and how much was tried. Requires: this process has one thread.
std::vector<Finding> hunt(const Hunt& hunt, std::ostream& out);

bool is_same(const Complaint& a, const Complaint& b);

// For temporary files of children, which may be killed; removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

 private:
  std::string path_, before_;
};

}  // namespace stoker::torture
