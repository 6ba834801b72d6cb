// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <iterator>
#include <sstream>

#include "draw/trial.h"
#include "hunt.h"

namespace stoker::torture {
namespace {

constexpr const char* kUsage =
    "usage: stoker_torture [--seed N]... [--seconds S] [--first N] [--trials N] [--jobs N]\n"
    "                      [--operators a,b] [--findings N] [--limit SECONDS]\n"
    "       stoker_torture --show N [--seed N] [--operators a,b]\n"
    "       stoker_torture --replay < TRIAL\n";

struct Options {
  Hunt hunt;
  std::vector<uint64_t> seeds;  // share the time
  bool shows = false, replays = false;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream text(list);
  for (std::string part; std::getline(text, part, ',');) parts.push_back(part);
  return parts;
}

Options read_options(int count, char** words) {
  Options o;
  o.hunt.program = words[0];
  for (int i = 1; i < count; ++i) {
    const std::string name = words[i];
    const auto value = [&] {
      if (++i == count) throw std::runtime_error(name + " needs a value");
      return std::string(words[i]);
    };
    if (name == "--seed") o.seeds.push_back(std::stoull(value()));
    else if (name == "--seconds") o.hunt.seconds = std::stod(value());
    else if (name == "--first") o.hunt.first = std::stoll(value());
    else if (name == "--trials") o.hunt.trials = std::stoll(value());
    else if (name == "--jobs") o.hunt.jobs = std::stoi(value());
    else if (name == "--operators") o.hunt.operators = split(value());
    else if (name == "--findings") o.hunt.most_findings = std::stoi(value());
    else if (name == "--limit") o.hunt.limits.seconds = std::stod(value());
    else if (name == "--show") o.shows = true, o.hunt.first = std::stoll(value());
    else if (name == "--replay") o.replays = true;
    else throw std::runtime_error("unknown: " + name);
  }
  for (const std::string& op : o.hunt.operators) (void)operator_named(op);
  if (o.seeds.empty()) o.seeds = {1};
  o.hunt.seconds /= static_cast<double>(o.seeds.size());
  return o;
}

int replay(const Limits& limits) {
  const TemporaryFolder folder;
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const Complaint c = examine_apart(read(text), limits);
  std::cout << in_words(c.wrong) << (c.text.empty() ? "" : ": ") << c.text << "\n";
  return c.wrong != Wrong::kNothing;
}

int run(Options o) {
  if (o.replays) return replay(o.hunt.limits);
  bool found = false;
  for (uint64_t seed : o.seeds) {
    o.hunt.seed = seed;
    if (o.shows) std::cout << to_text(draw_trial(seed, o.hunt.first, o.hunt.operators));
    else found |= !hunt(o.hunt, std::cout).empty();
  }
  return found;
}

}  // namespace
}  // namespace stoker::torture

int main(int count, char** words) {
  using namespace stoker::torture;
  try {
    return run(read_options(count, words));
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n" << kUsage;
    return 2;
  }
}
