#include "server/rpc/listen/stream_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace eipc::rpc {
namespace {

TEST(StreamSet, InterruptsThoseThatWaitAndLetsOthersFinish) {
  StreamSet streams;
  int idle_interrupts = 0;
  int busy_interrupts = 0;
  StreamSet::Stream busy(&streams, [&] { ++busy_interrupts; });
  EXPECT_TRUE(busy.Wait([] { return true; }));
  StreamSet::Stream idle(&streams, [&] { ++idle_interrupts; });
  EXPECT_FALSE(idle.Wait([&] {
    streams.Drain();
    return false;  // what an interrupted read says
  }));
  EXPECT_EQ(idle_interrupts, 1);
  EXPECT_EQ(busy_interrupts, 0);
  // The busy one answers, and then gets nothing more to do.
  EXPECT_FALSE(busy.Wait([] { return true; }));
  EXPECT_TRUE(streams.draining());
}

TEST(StreamSet, ForgetsStreamsThatEnded) {
  StreamSet streams;
  int interrupts = 0;
  auto stream = std::make_unique<StreamSet::Stream>(&streams, [&] { ++interrupts; });
  stream->Wait([] { return true; });
  stream.reset();
  streams.Drain();
  EXPECT_EQ(interrupts, 0);
}

}  // namespace
}  // namespace eipc::rpc
