// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A picture's header is read once for each picture that is decoded, wherever that is.
#include "run/device/mixed_testing.h"

namespace stoker {
namespace {

class CountingCodec final : public ImageCodec {
 public:
  const char* name() const override { return jpeg_.name(); }
  bool recognises(EncodedSpan bytes) const override { return jpeg_.recognises(bytes); }
  ImageInfo peek(EncodedSpan bytes, const DecodeOptions& options) const override {
    ++headers;
    return jpeg_.peek(bytes, options);
  }
  void decode(const EncodedImage& image, const View& out, const Window& judged, Arena& scratch,
              int64_t row_room) const override {
    ++pictures;
    jpeg_.decode(image, out, judged, scratch, row_room);
  }
  mutable std::atomic<int> headers{0}, pictures{0};

 private:
  const ImageCodec& jpeg_ = *stoker::peek(test::make_jpeg({}), {}).codec;
};

class Headers : public OnMixed {
 protected:
  void SetUp() override {
    OnMixed::SetUp();
    use_codec(&codec_);
  }
  void TearDown() override {
    use_codec(nullptr);
    OnMixed::TearDown();
  }

  // Runs three steps of four samples through each decoder, and counts afresh.
  void run(DeviceKind decoding, const char* executor) {
    codec_.headers = codec_.pictures = 0;
    Graph g;
    const Ref file{add_shuffled_files(g, folder_), 0};
    for (const char* op : {"decoders.image", "decoders.image_random_crop", "decoders.image_crop"}) {
      const Arguments a = op == std::string("decoders.image_crop")
                              ? Arguments{{"crop", std::vector<int64_t>{16, 20}}}
                              : Arguments{};
      g.outputs.push_back(
          {g.add({.op = op, .device = decoding, .arguments = a, .inputs = {file}}), 0});
    }
    Pipeline p(g, options(executor));
    for (int s = 0; s < 3; ++s) (void)*p.run();
    p.stop();
  }

  const Pictures folder_{11};
  CountingCodec codec_;
};

TEST_F(Headers, AreReadOnceForEachPicture) {
  for (const char* executor : {"simple", "pipelined"})
    for (const DeviceKind decoding : {DeviceKind::kCpu, DeviceKind::kMixed})
      for (const bool fake : {false, true}) {
        if (fake) FakeDecoder::install();
        else use_device_decoders(nullptr);
        run(decoding, executor);
        EXPECT_EQ(codec_.headers, codec_.pictures) << executor << name_of(decoding) << fake;
        EXPECT_GE(codec_.pictures, 3 * 3 * 4);
      }
}

}  // namespace
}  // namespace stoker
