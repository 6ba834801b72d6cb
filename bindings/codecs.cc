// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Lists the formats, tells what bytes are, and writes and rewrites JPEG files.

#include "base/content.h"
#include "base/picture_formats.h"
#include "bindings.h"
#include "codec/codec.h"
#include "codec/inflate/inflate.h"
#include "codec/jpeg/rewrite.h"
#include "codec/jpeg/writer.h"
#include "codec/sound/sound.h"
#include "run/machine.h"
#include "text.h"

namespace stoker::python {

namespace {

template <class Codec>
void list_codecs(const char* kind, nb::list& all) {
  for (const Known<Codec>& k : known_codecs<Codec>()) {
    nb::dict d;
    d["format"] = k.format;
    d["kind"] = kind;
    d["is_there"] = k.codec() != nullptr;
    d["package"] = k.package;
    all.append(d);
  }
}

// The format of the picture that begins with these bytes; "" if no decoder that was built knows it.
std::string picture_format(EncodedSpan head) {
  for (const Known<ImageCodec>& k : known_codecs<ImageCodec>())
    if (k.built && k.built()->recognises(head)) return k.format;
  return "";
}

// None for the bytes if the file stays as it is.
nb::object rewritten_jpeg(const nb::bytes& file) {
  const EncodedSpan bytes{static_cast<const uint8_t*>(file.data()), file.size()};
  JpegRewrite made;
  {
    const Unlocked unlocked;
    const size_t free = free_memory();
    Arena scratch(free, free, "which is all that is free");
    scratch.set_alone(true);
    try {
      made = rewrite_jpeg(bytes, scratch);
    } catch (const SampleError& e) {
      if (e.offset < 0) throw;
      throw SampleError(std::string(e.what()) + ", at byte " + std::to_string(e.offset), e.offset);
    }
  }
  const nb::object obstacle = nb::cast(made.obstacle);
  if (made.bytes.empty()) return nb::make_tuple(nb::none(), obstacle);
  return nb::make_tuple(nb::bytes(made.bytes.data(), made.bytes.size()), obstacle);
}

}  // namespace

void bind_codecs(nb::module_& m) {
  m.def(
      "codecs",
      [] {
        nb::list all;
        list_codecs<ImageCodec>("picture", all);
        list_codecs<SoundCodec>("sound", all);
        list_codecs<Inflater>("compression", all);
        return all;
      },
      "A dict for each format, with the fields of stoker.Codec as keys.");
  m.def(
      "picture_endings",
      [] {
        nb::dict all;
        for (const PictureFormat& f : picture_formats()) {
          nb::list endings;
          for (const std::string_view e : f.endings) endings.append(nb::str(e.data(), e.size()));
          all[f.name] = endings;
        }
        return all;
      },
      "The endings of the files of each picture format, as [\".tif\", \".tiff\"].");
  m.def(
      "content_of",
      [](const nb::bytes& head) {
        const EncodedSpan bytes{static_cast<const uint8_t*>(head.data()), head.size()};
        return nb::make_tuple(picture_format(bytes), describe_content(bytes));
      },
      nb::arg("head"),
      "What a file is that begins with these bytes: the format as codecs() names it (\"\" if no\n"
      "image decoder that was built knows it), and words for a message.");
  m.def(
      "write_jpeg",
      [](const nb::bytes& pixels, int64_t height, int64_t width, int64_t channels, int quality,
         bool subsampled) {
        const auto* data = static_cast<const uint8_t*>(pixels.data());
        if (height < 0 || width < 0 || (channels != 1 && channels != 3) || quality < 1 ||
            quality > 100 || pixels.size() != static_cast<size_t>(height * width * channels))
          throw Error("the bytes are not a picture of this shape, or the quality is not 1 to 100");
        const auto file =
            write_jpeg({{data, pixels.size()}, height, width, channels}, quality, subsampled);
        return nb::bytes(file.data(), file.size());
      },
      nb::arg("pixels"), nb::arg("height"), nb::arg("width"), nb::arg("channels"),
      nb::arg("quality"), nb::arg("subsampled"),
      "The bytes of a JPEG file of dense gray or RGB pixels.");
  m.def("rewrite_jpeg", rewritten_jpeg, nb::arg("file"),
        "The same picture as a JPEG file that is read faster; None for the bytes of one that is\n"
        "to stay as it is. The text says what would be lost; \"\" if it is fast already. Raises\n"
        "SampleError where the file is damaged.");
}

}  // namespace stoker::python
