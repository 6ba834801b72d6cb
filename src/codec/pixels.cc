// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/pixels.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "codec/color.h"

namespace stoker {
namespace {

using Vector = uint8_t __attribute__((vector_size(16)));

// Writes pixels of 3 or 4 bytes as RGB or BGR, in vectors of 5 or 4, and returns how many it wrote.
// What a vector writes behind its pixels, the next pixels overwrite.
template <int kFrom, bool kSwaps>
int64_t shuffle(const uint8_t* from, uint8_t* to, int64_t pixels) {
  constexpr int kEach = kFrom == 3 ? 5 : 4, kRed = kSwaps ? 2 : 0, kBlue = 2 - kRed;
  int64_t i = 0;
  for (; i + 6 <= pixels; i += kEach, from += kFrom * kEach, to += 3 * kEach) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    v = __builtin_shufflevector(
        v, v, kRed, 1, kBlue, kFrom + kRed, kFrom + 1, kFrom + kBlue, 2 * kFrom + kRed,
        2 * kFrom + 1, 2 * kFrom + kBlue, 3 * kFrom + kRed, 3 * kFrom + 1, 3 * kFrom + kBlue,
        kFrom == 3 ? 12 + kRed : 0, kFrom == 3 ? 13 : 0, kFrom == 3 ? 12 + kBlue : 0, 0);
    std::memcpy(to, &v, sizeof v);
  }
  return i;
}

template <class T>
T gray_of(T r, T g, T b) {
  if constexpr (std::is_floating_point_v<T>) return 0.299f * r + 0.587f * g + 0.114f * b;
  else return luma<T>(r, g, b);
}

// Full intensity of floats is 1.
template <class T>
Pixel3Of<T> ycbcr_of(T r, T g, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return {(16 + 65.481f * r + 128.553f * g + 24.966f * b) / 255,
            (128 - 37.797f * r - 74.203f * g + 112.0f * b) / 255,
            (128 + 112.0f * r - 93.786f * g - 18.214f * b) / 255};
  else return ycbcr_of_rgb<T>(r, g, b);
}

template <class T, ImageType kType>
void put_color(T r, T g, T b, T* to) {
  if constexpr (kType == ImageType::kGray) {
    to[0] = gray_of(r, g, b);
  } else if constexpr (kType == ImageType::kRGB) {
    to[0] = r, to[1] = g, to[2] = b;
  } else if constexpr (kType == ImageType::kBGR) {
    to[0] = b, to[1] = g, to[2] = r;
  } else {
    const Pixel3Of<T> p = ycbcr_of(r, g, b);
    to[0] = p.a, to[1] = p.b, to[2] = p.c;
  }
}

template <class T, ImageType kType>
void convert_cmyk(const void* from_, void* to_, int64_t pixels) {
  const T* from = static_cast<const T*>(from_);
  T* to = static_cast<T*>(to_);
  constexpr int kMost = std::numeric_limits<T>::max();
  for (const T* const end = from + 4 * pixels; from != end; from += 4) {
    const Pixel3Of<T> p =
        rgb_of_inverted_cmyk<T>(kMost - from[0], kMost - from[1], kMost - from[2], kMost - from[3]);
    put_color<T, kType>(p.a, p.b, p.c, to);
    to += kType == ImageType::kGray ? 1 : 3;
  }
}

template <class T, int kFrom, ImageType kType>
void convert(const void* from_, void* to_, int64_t pixels) {
  const T* from = static_cast<const T*>(from_);
  T* to = static_cast<T*>(to_);
  constexpr int kTo = kType == ImageType::kGray ? 1 : 3, kGreen = kFrom > 2 ? 1 : 0;
  int64_t i = 0;
  if constexpr (sizeof(T) == 1 && kFrom > 2 &&
                (kType == ImageType::kRGB || kType == ImageType::kBGR)) {
    i = shuffle<kFrom, kType == ImageType::kBGR>(from, to, pixels);
    from += kFrom * i;
    to += kTo * i;
  }
  for (; i < pixels; ++i, from += kFrom, to += kTo) {
    const T r = from[0], g = from[kGreen], b = from[2 * kGreen];
    if constexpr (kType == ImageType::kGray && kFrom < 3) to[0] = r;
    else put_color<T, kType>(r, g, b, to);
  }
}

using ConvertRow = void (*)(const void*, void*, int64_t);

template <class T, int kFrom>
ConvertRow converter_to(ImageType type) {
  switch (type) {
    case ImageType::kRGB: return kFrom == 3 ? nullptr : convert<T, kFrom, ImageType::kRGB>;
    case ImageType::kBGR: return convert<T, kFrom, ImageType::kBGR>;
    case ImageType::kGray: return kFrom == 1 ? nullptr : convert<T, kFrom, ImageType::kGray>;
    case ImageType::kYCbCr: return convert<T, kFrom, ImageType::kYCbCr>;
    case ImageType::kClasses: return kFrom == 2 ? convert<T, kFrom, ImageType::kGray> : nullptr;
    case ImageType::kAny: break;
  }
  return nullptr;
}

template <class T>
ConvertRow converter_of(int channels, ImageType type) {
  switch (channels) {
    case 1: return converter_to<T, 1>(type);
    case 2: return converter_to<T, 2>(type);
    case 3: return converter_to<T, 3>(type);
    default: return converter_to<T, 4>(type);
  }
}

template <int64_t kSize>
void copy_pixels(const uint8_t* from, uint8_t* to, int64_t to_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i, from += kSize, to += to_step) std::memcpy(to, from, kSize);
}

// Entries have 4 bytes, all of which are copied. For pixels of 3, the next one overwrites the last.
template <int64_t kSize>
void look_up(const uint8_t* indices, const uint8_t* entries, uint8_t* to, int64_t pixels) {
  constexpr int64_t kCopied = kSize == 3 ? 4 : kSize;
  for (int64_t i = 0; i + 1 < pixels; ++i, to += kSize)
    std::memcpy(to, entries + 4 * indices[i], kCopied);
  if (pixels > 0) std::memcpy(to, entries + 4 * indices[pixels - 1], kSize);
}

template <unsigned kDepth>
void unpack(const uint8_t* row, uint8_t* to, uint64_t count) {
  constexpr unsigned kEach = 8 / kDepth, kMask = (1 << kDepth) - 1;
  for (uint64_t i = 0; i < count; ++i)
    to[i] = static_cast<uint8_t>(row[i / kEach] >> (8 - kDepth * (i % kEach + 1)) & kMask);
}

template <class T>
ConvertRow converter_of_cmyk(ImageType type) {
  switch (type) {
    case ImageType::kRGB: return convert_cmyk<T, ImageType::kRGB>;
    case ImageType::kBGR: return convert_cmyk<T, ImageType::kBGR>;
    case ImageType::kGray: return convert_cmyk<T, ImageType::kGray>;
    case ImageType::kYCbCr: return convert_cmyk<T, ImageType::kYCbCr>;
    case ImageType::kAny:
    case ImageType::kClasses: break;
  }
  return nullptr;
}

}  // namespace

PixelWriter::Convert PixelWriter::converter(ImageType type, int channels, DType dtype) {
  switch (dtype) {
    case DType::kUint8: return converter_of<uint8_t>(channels, type);
    case DType::kUint16: return converter_of<uint16_t>(channels, type);
    default: return converter_of<float>(channels, type);
  }
}

PixelWriter::PixelWriter(ImageType type, int channels, DType dtype, const View& stored,
                         Arena& scratch)
    : stored_(stored),
      type_(type),
      convert_(converter(type, channels, dtype)),
      channels_(channels),
      from_size_(channels * size_of(dtype)),
      to_size_(stored.shape[2] * size_of(dtype)),
      is_dense_((stored.strides[2] == size_of(dtype) || stored.shape[2] == 1) &&
                stored.strides[1] == to_size_),
      line_(scratch.array<uint8_t>(static_cast<size_t>(stored.shape[1] * to_size_) + kEntry)) {}

void PixelWriter::use_palette(std::span<const uint8_t> entries, std::span<const uint8_t> numbers) {
  if (type_ == ImageType::kClasses) return use_numbers(numbers);
  palette_.fill(0);
  const auto count = static_cast<int64_t>(entries.size()) / from_size_;
  std::array<uint8_t, 256 * kEntry> converted;
  if (convert_) convert_(entries.data(), converted.data(), count);
  const uint8_t* from = convert_ ? converted.data() : entries.data();
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(&palette_[static_cast<size_t>(i) * kEntry], from + i * to_size_,
                static_cast<size_t>(to_size_));
  from_size_ = 1;
  convert_ = nullptr;
  has_palette_ = true;
}

void PixelWriter::use_numbers(std::span<const uint8_t> numbers) {
  palette_.fill(0);
  for (size_t i = 0; i < numbers.size(); ++i) palette_[i * kEntry] = numbers[i];
  from_size_ = 1;
  convert_ = nullptr;
  has_palette_ = !numbers.empty();
}

void PixelWriter::use_cmyk() {
  convert_ = stored_.dtype == DType::kUint8 ? converter_of_cmyk<uint8_t>(type_)
                                            : converter_of_cmyk<uint16_t>(type_);
}

void PixelWriter::expand(const uint8_t* indices, uint8_t* to, int64_t pixels) const {
  switch (to_size_) {
    case 1: return look_up<1>(indices, palette_.data(), to, pixels);
    case 2: return look_up<2>(indices, palette_.data(), to, pixels);
    case 3: return look_up<3>(indices, palette_.data(), to, pixels);
    default: return look_up<4>(indices, palette_.data(), to, pixels);
  }
}

void PixelWriter::make(const uint8_t* from, uint8_t* to, int64_t pixels) const {
  if (has_palette_) expand(from, to, pixels);
  else if (convert_) convert_(from, to, pixels);
  else std::memcpy(to, from, static_cast<size_t>(pixels * to_size_));
}

void PixelWriter::scatter(const uint8_t* from, uint8_t* to, int64_t step, int64_t count) const {
  const int64_t element = size_of(stored_.dtype), between = stored_.strides[2];
  if (between != element && stored_.shape[2] > 1) {
    for (int64_t i = 0; i < count; ++i, to += step)
      for (int64_t c = 0; c < stored_.shape[2]; ++c, from += element)
        std::memcpy(to + c * between, from, static_cast<size_t>(element));
    return;
  }
  switch (to_size_) {
    case 1: return copy_pixels<1>(from, to, step, count);
    case 2: return copy_pixels<2>(from, to, step, count);
    case 3: return copy_pixels<3>(from, to, step, count);
    case 4: return copy_pixels<4>(from, to, step, count);
    case 6: return copy_pixels<6>(from, to, step, count);
    case 8: return copy_pixels<8>(from, to, step, count);
    default:
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * step, from + i * to_size_, static_cast<size_t>(to_size_));
  }
}

void PixelWriter::put(int64_t y, const void* row, Columns columns, int64_t pixels) {
  const int64_t begin = stored_.origin[1];
  const int64_t skipped =
      std::max<int64_t>(0, (begin - columns.first + columns.step - 1) / columns.step);
  const int64_t first = columns.first + skipped * columns.step;
  if (first >= end_column() || skipped >= pixels) return;
  const int64_t count =
      std::min(pixels - skipped, (end_column() - first + columns.step - 1) / columns.step);
  const uint8_t* from = static_cast<const uint8_t*>(row) + skipped * from_size_;
  uint8_t* to = stored_.as<uint8_t>() + (y - stored_.origin[0]) * stored_.strides[0] +
                (first - begin) * stored_.strides[1];
  if (is_dense_ && columns.step == 1) return make(from, to, count);
  make(from, line_, count);
  scatter(line_, to, stored_.strides[1] * columns.step, count);
}

void PixelWriter::clear() {
  std::memset(line_, 0, static_cast<size_t>(stored_.shape[1] * to_size_));
  for (int64_t y = 0; y < stored_.shape[0]; ++y)
    scatter(line_, stored_.as<uint8_t>() + y * stored_.strides[0], stored_.strides[1],
            stored_.shape[1]);
}

void unpack_bits(const uint8_t* row, int depth, uint8_t* to, int64_t count) {
  const auto n = static_cast<uint64_t>(count);
  depth == 1 ? unpack<1>(row, to, n) : depth == 2 ? unpack<2>(row, to, n) : unpack<4>(row, to, n);
}

}  // namespace stoker
