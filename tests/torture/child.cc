// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <typeinfo>

namespace stoker::torture {

namespace {

constexpr int kComplained = 3;  // exit status

int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

size_t resident_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void run_child(const std::function<void(Board&)>& work, Board& board, int errors) {
  dup2(errors, STDERR_FILENO);
  try {
    work(board);
  } catch (const std::exception& e) {  // not in the runs: in the torture itself
    board.complain({Wrong::kError, std::string(typeid(e).name()) + ": " + e.what()});
  }
  std::exit(board.wrong == Wrong::kNothing ? 0 : kComplained);  // exit() looks for leaks
}

// What a sanitizer reports, without what every report has.
std::string essential(const std::string& errors) {
  std::istringstream lines(errors);
  std::string text;
  int count = 0;
  for (std::string line; count < 24 && std::getline(lines, line);) {
    if (line.empty() || line.find("=====") == 0) continue;
    text += "\n    " + line;
    ++count;
  }
  return text;
}

}  // namespace

void Board::begin_way() { begun_ns = now_ns(); }
void Board::complain(const Complaint& complaint) {
  wrong = complaint.wrong;
  std::strncpy(text, complaint.text.c_str(), sizeof text - 1);
}

Child::Child(const std::function<void(Board&)>& work, const Limits& limits)
    : limits_(limits), errors_(memfd_create("errors", MFD_CLOEXEC)) {
  void* shared =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || errors_ < 0) throw std::runtime_error("no memory for a child");
  board_ = new (shared) Board;
  board_->begin_way();
  std::cout.flush();
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ == 0) run_child(work, *board_, errors_);
}

Child::~Child() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(errors_);
  munmap(board_, sizeof(Board));
}

std::optional<Complaint> Child::poll() {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == 0) {
    std::optional<Complaint> found = beyond_limits();
    if (!found) return std::nullopt;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
    return found;
  }
  pid_ = -1;
  if (WIFSIGNALED(status)) return crash(std::string("signal ") + strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) == kComplained) return Complaint{board_->wrong, board_->text};
  if (WEXITSTATUS(status) != 0) return crash("exit status " + std::to_string(WEXITSTATUS(status)));
  return Complaint{};
}

Complaint Child::wait() {
  for (;;) {
    if (auto complaint = poll()) return *complaint;
    usleep(500);
  }
}

std::optional<Complaint> Child::beyond_limits() const {
  const double seconds = static_cast<double>(now_ns() - board_->begun_ns) * 1e-9;
  if (seconds > limits_.seconds)
    return Complaint{Wrong::kHang,
                     "no end after " + std::to_string(static_cast<int>(seconds)) + " s"};
  const size_t bytes = resident_bytes(pid_);
  if (bytes > limits_.bytes)
    return Complaint{Wrong::kMemory, std::to_string(bytes >> 20) + " MiB are in use"};
  return std::nullopt;
}

Complaint Child::crash(const std::string& how) const {
  std::string errors(1 << 16, '\0');
  const ssize_t size = pread(errors_, errors.data(), errors.size(), 0);
  errors.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return {Wrong::kCrash, how + essential(errors)};
}

Complaint examine_apart(const Trial& trial, const Limits& limits) {
  const auto work = [&](Board& board) {
    const Complaint c = examine(trial, [&] { board.begin_way(); });
    if (c.wrong != Wrong::kNothing) board.complain(c);
  };
  return Child(work, limits).wait();
}

}  // namespace stoker::torture
