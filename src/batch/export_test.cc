// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Lending on a simulated device. A test plays the consumer, on a stream that is held up for as long
// as the test likes.
#include "batch/export.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <thread>

#include "base/error.h"
#include "device/simulated/testing.h"
#include "memory/poison.h"

namespace stoker {
namespace {

constexpr size_t kBytes = 4000;

class Lending : public testing::Test {
 protected:
  void SetUp() override { make(*producer_); }

  void make(Stream& stream) {
    memory_ = stream.try_acquire(kBytes);
    stream.copy(memory_->data(), text_.data(), kBytes, Copy::kToDevice, "make");
    batch_ = std::make_shared<DeviceBatch>();
    batch_->device = &*device_;
    batch_->ready = device_->make_event();
    stream.record(*batch_->ready);
  }
  std::unique_ptr<Lease> lend(Stream& consumer) {
    return std::make_unique<Lease>(*batch_, memory_, SimulatedDevice::foreign(consumer));
  }
  void read(Stream& consumer, std::string& to) {
    to.assign(kBytes, 0);
    consumer.copy(to.data(), memory_->data(), kBytes, Copy::kToHost, "read");
  }
  void hold(Stream& stream, std::promise<void>& until, int64_t ns = 1000) {
    stream.call([&until] { until.get_future().wait(); }, ns, "hold");
  }
  TimelineEntry entry(const std::string& name) const {
    for (const TimelineEntry& e : device_->timeline())
      if (e.name == name) return e;
    throw std::out_of_range(name);
  }
  static bool is_freed(const std::byte* p) {
    return kPoisons ? is_poisoned(p) : *p == SimulatedDevice::kFreed;
  }

  const std::string text_ = std::string(kBytes, 'b');
  std::optional<SimulatedDevice> device_{std::in_place, SimulatedOptions{.link_bytes_per_ns = 1}};
  std::unique_ptr<Stream> producer_ = device_->make_stream("producer");
  std::unique_ptr<Stream> consumer_ = device_->make_stream("consumer");
  std::shared_ptr<DeviceBatch> batch_;
  std::shared_ptr<Buffer> memory_;
  std::string got_;
};

TEST_F(Lending, WithoutALeaseTheConsumerReadsTooEarly) {
  EXPECT_TRUE(
      has(message<DeviceError>([&] { read(*consumer_, got_); }), "no event orders this behind"));
}

// The bytes are lent, and read() is enqueued, before the device has made them. If the host waited,
// it would wait forever.
TEST_F(Lending, TheConsumersStreamWaitsForTheBatchAndTheHostForNothing) {
  std::promise<void> go;
  hold(*producer_, go);
  make(*producer_);
  const auto lease = lend(*consumer_);
  read(*consumer_, got_);
  EXPECT_EQ(device_->host_now(), 0);
  EXPECT_EQ(got_, std::string(kBytes, 0));
  go.set_value();
  consumer_->synchronize();
  EXPECT_EQ(got_, text_);
  EXPECT_EQ(entry("read").start_ns, 9000) << "behind the second batch";
}

// All holders let go after the consumer's work was enqueued and before it begins.
TEST_F(Lending, TheMemoryComesBackBehindTheConsumersWork) {
  std::promise<void> go;
  auto lease = lend(*consumer_);
  hold(*consumer_, go);
  read(*consumer_, got_);
  const std::byte* bytes = memory_->data();
  std::thread([&] { lease.reset(), memory_.reset(); }).join();
  EXPECT_EQ(device_->usage().in_use, 0u) << "it counts as free at once";
  const auto returned = device_->make_event();
  producer_->record(*returned);
  EXPECT_FALSE(returned->query());
  EXPECT_FALSE(is_freed(bytes));
  EXPECT_EQ(device_->host_now(), 0);
  go.set_value();
  producer_->synchronize();
  EXPECT_EQ(got_, text_);
  EXPECT_TRUE(is_freed(bytes));
  device_->check();
}

TEST_F(Lending, WithoutTheReturnTheMemoryIsFreedTooEarly) {
  std::promise<void> go;
  batch_->ready->hold_back(SimulatedDevice::foreign(*consumer_));
  hold(*consumer_, go);
  read(*consumer_, got_);
  memory_.reset();
  EXPECT_TRUE(has(message<DeviceError>([&] { device_->check(); }), "no event orders this behind"));
  go.set_value();
  consumer_->synchronize();
}

TEST_F(Lending, WhatTheProducerDoesNextComesBehindTheConsumersWork) {
  auto lease = lend(*consumer_);
  consumer_->call({}, 50000, "train");
  lease.reset();
  consumer_->call({}, 70000, "train on without it");
  memory_.reset();
  producer_->call({}, 1, "next");
  EXPECT_EQ(entry("next").start_ns, entry("train").end_ns);
}

TEST_F(Lending, EveryConsumerIsWaitedFor) {
  std::promise<void> go, go_too;
  const auto other = device_->make_stream("other");
  auto one = lend(*consumer_), two = lend(*other);
  std::string also;
  hold(*consumer_, go), hold(*other, go_too);
  read(*consumer_, got_), read(*other, also);
  two.reset(), one.reset(), memory_.reset();
  const auto returned = device_->make_event();
  producer_->record(*returned);
  go.set_value();
  consumer_->synchronize();
  EXPECT_FALSE(returned->query());
  go_too.set_value();
  producer_->synchronize();
  EXPECT_EQ(got_ + also, text_ + text_);
  device_->check();
}

// Nothing is left but the consumers' streams and what they hold.
TEST_F(Lending, StreamAndDeviceMayBeGone) {
  std::promise<void> go, go_too;
  const auto other = device_->make_stream("other");
  auto one = lend(*consumer_), two = lend(*other);
  std::string also;
  hold(*consumer_, go), hold(*other, go_too);
  read(*consumer_, got_), read(*other, also);
  const std::byte* bytes = memory_->data();
  producer_.reset();
  batch_.reset();
  device_.reset();
  one.reset(), two.reset(), memory_.reset();
  go_too.set_value();
  EXPECT_FALSE(is_freed(bytes));
  go.set_value();
  consumer_->synchronize();
  other->synchronize();
  EXPECT_EQ(got_ + also, text_ + text_);
  EXPECT_TRUE(is_freed(bytes));
}

TEST_F(Lending, WithoutAStreamTheConsumerKeepsTheOrder) {
  auto lease = std::make_unique<Lease>(*batch_, memory_, std::nullopt);
  consumer_->wait(*batch_->ready);
  read(*consumer_, got_);
  consumer_->synchronize();
  lease.reset();
  memory_.reset();
  device_->check();
  EXPECT_EQ(got_, text_);
}

TEST_F(Lending, RefusesAStreamThatIsNotThere) {
  for (const ForeignStream s : {ForeignStream::kDefault, static_cast<ForeignStream>(1000)}) {
    const std::string text = message<DeviceError>([&] { const Lease lease(*batch_, memory_, s); });
    EXPECT_TRUE(has(text, "simulated:0: a consumer's stream is named 1")) << text;
  }
  const auto lease = lend(*consumer_);
  const ForeignStream gone = SimulatedDevice::foreign(*consumer_);
  consumer_.reset();
  EXPECT_TRUE(
      has(message<DeviceError>([&] { const Lease another(*batch_, memory_, gone); }), "no"));
}

TEST_F(Lending, AStreamThatIsGoneAtTheReturnIsToldLater) {
  auto lease = lend(*consumer_);
  consumer_.reset();
  device_->check();
  lease.reset();
  EXPECT_TRUE(has(message<DeviceError>([&] { device_->check(); }), "there is none of that name"));
}

TEST_F(Lending, AHandOutTellsWhatFailed) {
  producer_->call([] { throw std::runtime_error("bad"); }, 0, "work");
  const auto failed = device_->make_event();
  producer_->record(*failed);
  while (!failed->query()) std::this_thread::yield();
  EXPECT_TRUE(has(message<DeviceError>([&] { (void)lend(*consumer_); }), "call 'work'"));
  (void)lend(*consumer_);
}

TEST_F(Lending, RefusesHostMemory) {
  struct Host final : Buffer {
    explicit Host(std::byte* p) : Buffer(p, 1) {}
  };
  std::byte byte{};
  EXPECT_THROW(Lease(*batch_, std::make_shared<Host>(&byte), std::nullopt), Error);
}

TEST_F(Lending, CopiesPiecesOneBehindTheOther) {
  const std::string digits = "0123456789";
  producer_->copy(memory_->data(), digits.data(), 10, Copy::kToDevice, "digits");
  producer_->record(*batch_->ready);
  const std::byte* p = memory_->data();
  const Pieces pieces = {{p + 7, 3}, {p, 0}, {p + 1, 4}};
  std::string host(7, 0);
  copy_to_host(*batch_, pieces, reinterpret_cast<std::byte*>(host.data()));
  EXPECT_EQ(host, "7891234");
  DeviceCopy copy = copy_on_device(*batch_, pieces);
  memory_.reset();
  EXPECT_EQ(copy.on_device->device, &*device_);
  memory_ = copy.owner;
  batch_ = copy.on_device;
  const auto lease = lend(*consumer_);
  std::string there(7, 0);
  consumer_->copy(there.data(), copy.owner->data(), 7, Copy::kToHost, "read");
  consumer_->synchronize();
  EXPECT_EQ(there, "7891234");
}

TEST_F(Lending, ACopyThatHasNoRoomSaysSo) {
  device_.emplace(SimulatedOptions{.memory_limit = kBytes + 10});
  producer_ = device_->make_stream("producer");
  make(*producer_);
  try {
    (void)copy_on_device(*batch_, {{memory_->data(), kBytes}});
    FAIL() << "no error";
  } catch (const BudgetError& e) {
    EXPECT_TRUE(has(e.what(), "simulated:0: no memory for a copy of 3.9 KiB")) << e.what();
  }
}

}  // namespace
}  // namespace stoker
