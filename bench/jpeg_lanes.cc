// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Times how long the bits of real JPEG files take to become coefficients, one core: row by row, and
// eight rows at once in the lanes of a vector. A pass before tells where rows begin. The two take
// turns file by file, and the fastest run of each file counts. Both must give the same.
//
//   bench_jpeg_lanes FOLDER [rounds]
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include "codec/plain_jpeg/frame.h"
#include "kernels/jpeg/entropy.h"
#include "kernels/jpeg/idct.h"
#include "kernels/jpeg/lanes.h"
#include "kernels/jpeg/unstuff.h"

namespace {

using namespace stoker;
namespace fs = std::filesystem;

struct Place {
  const uint8_t* byte;
  int bit;
};

// A file's data without stuffing, and all that reads it.
class Picture {
 public:
  explicit Picture(const std::vector<uint8_t>& file, const PlainFrame& frame) : f_(frame) {
    data_.resize(file.size() + jpeg::kUnstuffSlack + jpeg::kMostBytesOfMcu + 8);
    const auto size = static_cast<int64_t>(file.size() - f_.data);
    limit_ =
        data_.data() + 8 + jpeg::unstuff(file.data() + f_.data, size, data_.data(), size).written;
    for (int c = 0; c < f_.count; ++c) add_component(c);
    rows_.resize(static_cast<size_t>(f_.mcus_down() * row_size_));
    coefficients_.resize(static_cast<size_t>(jpeg::kGroupSize + jpeg::kLanes * row_size_));
  }

  // Returns false if the file is not undamaged, or has restart markers.
  bool find_places() {
    jpeg::BitReader reader = jpeg::bits_at(data_.data(), 0);
    for (int64_t row = 0; row < f_.mcus_down(); ++row) {
      const auto held = static_cast<int64_t>(reader.count);
      places_.push_back({reader.next - (held + 7) / 8, static_cast<int>(-held & 7)});
      place(0);
      if (!jpeg::read_mcus(mcu_, 0, f_.mcus_across(), limit_, reader).is_good) return false;
    }
    return f_.restart_interval == 0 && jpeg::can_use_lanes(mcu_) &&
           f_.mcus_across() <= jpeg::kMostMcusInLanes;
  }
  // The tables are built again, as they are for each picture.
  void read_rows() {
    build_tables();
    for (size_t row = 0; row < places_.size(); ++row) {
      clear(0);
      jpeg::BitReader reader = jpeg::bits_at(places_[row].byte, places_[row].bit);
      jpeg::read_mcus(mcu_, 0, f_.mcus_across(), limit_, reader);
      if (keeps_) keep(row, 0);
    }
  }
  void read_lanes() {
    build_tables();
    place(0);
    jpeg::make_lanes(mcu_, coefficients_.data(), data_.data(), *lanes_);
    size_t next = 0, row_of[jpeg::kLanes] = {};
    const auto start = [&](int lane) {
      if (next == places_.size()) return;
      clear(lane * row_size_);
      jpeg::start_lane(lane, jpeg::bits_at(places_[next].byte, places_[next].bit), limit_, 0,
                       f_.mcus_across(), lane * row_size_, *lanes_);
      row_of[lane] = next++;
    };
    for (int lane = 0; lane < jpeg::kLanes; ++lane) start(lane);
    while (lanes_->running)
      for (uint32_t stopped = jpeg::run_lanes(*lanes_); stopped; stopped &= stopped - 1) {
        const int lane = std::countr_zero(stopped);
        place(lane * row_size_);
        jpeg::add_differences(mcu_, 0, f_.mcus_across());
        if (keeps_) keep(row_of[lane], lane * row_size_);
        start(lane);
      }
  }
  bool agrees() {
    keeps_ = true;
    read_rows();
    const std::vector<int16_t> want = rows_;
    std::fill(rows_.begin(), rows_.end(), int16_t{1});
    read_lanes();
    keeps_ = false;
    return rows_ == want;
  }

 private:
  void build_tables() {
    for (int c = 0; c < f_.count; ++c) {
      dc_[f_.components[c].dc_code].build(f_.dc_codes[f_.components[c].dc_code]);
      ac_[f_.components[c].ac_code].build(f_.ac_codes[f_.components[c].ac_code]);
    }
  }
  void add_component(int c) {
    const PlainFrame::Component& of = f_.components[c];
    dc_[of.dc_code].build(f_.dc_codes[of.dc_code]);
    ac_[of.ac_code].build(f_.ac_codes[of.ac_code]);
    for (int y = 0; y < of.down; ++y) {
      for (int x = 0; x < of.across; ++x) {
        mcu_.blocks[mcu_.count] = {&dc_[of.dc_code], &ac_[of.ac_code], &predictors_[c],
                                   nullptr,          of.across,        x};
        at_[mcu_.count++] = jpeg::kGroupSize + row_size_;
      }
      row_size_ += (f_.mcus_across() * of.across + 3) / jpeg::kBlocksInGroup * jpeg::kGroupSize;
    }
  }
  void place(int64_t offset) {
    std::fill_n(predictors_, 3, 0);
    for (int b = 0; b < mcu_.count; ++b)
      mcu_.blocks[b].row = coefficients_.data() + at_[b] + offset;
  }
  void clear(int64_t offset) {
    place(offset);
    std::memset(coefficients_.data() + jpeg::kGroupSize + offset, 0,
                static_cast<size_t>(row_size_) * sizeof(int16_t));
  }
  void keep(size_t row, int64_t offset) {
    std::copy_n(coefficients_.data() + jpeg::kGroupSize + offset, row_size_,
                rows_.data() + static_cast<int64_t>(row) * row_size_);
  }

  const PlainFrame f_;
  std::vector<uint8_t> data_;
  const uint8_t* limit_ = nullptr;
  jpeg::DcTable dc_[4];
  jpeg::AcTable ac_[4];
  int32_t predictors_[3] = {};
  jpeg::Mcu mcu_;
  int64_t at_[jpeg::kMostBlocksOfMcu] = {}, row_size_ = 0;
  std::vector<int16_t> coefficients_, rows_;
  std::vector<Place> places_;
  std::unique_ptr<jpeg::Lanes> lanes_ = std::make_unique<jpeg::Lanes>();
  bool keeps_ = false;
};

template <class F>
double microseconds(const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() * 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "bench_jpeg_lanes FOLDER [rounds]\n"), 2;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 10;
  std::array<double, 2> sum = {};
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(argv[1])) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<uint8_t> file((std::istreambuf_iterator<char>(in)),
                                    std::istreambuf_iterator<char>());
    const std::optional<PlainFrame> frame = read_plain_frame(file);
    if (!frame) continue;
    const auto picture = std::make_unique<Picture>(file, *frame);
    if (!picture->find_places()) continue;
    if (!picture->agrees()) return std::fprintf(stderr, "the two differ\n"), 1;
    std::array<double, 2> best = {1e30, 1e30};
    for (int round = 0; round < rounds; ++round) {
      best[0] = std::min(best[0], microseconds([&] { picture->read_rows(); }));
      best[1] = std::min(best[1], microseconds([&] { picture->read_lanes(); }));
    }
    for (const size_t i : {0, 1}) sum[i] += best[i];
    ++files;
  }
  std::printf("%d files, us per file: row by row %.1f, in lanes %.1f, ratio %.2f\n", files,
              sum[0] / files, sum[1] / files, sum[0] / sum[1]);
}
