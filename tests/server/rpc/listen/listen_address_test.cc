#include "server/rpc/listen/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eipc::rpc {
namespace {

using ::testing::HasSubstr;

TEST(ListenAddress, TakesLoopbackAddresses) {
  for (const char* text : {"127.0.0.1:50051", "127.1.2.3:0", "localhost:1", "[::1]:65535"}) {
    ASSERT_TRUE(ParseListenAddress(text).ok()) << text;
    EXPECT_TRUE(ParseListenAddress(text)->loopback) << text;
  }
  EXPECT_EQ(ParseListenAddress("[::1]:65535")->host, "[::1]");
  EXPECT_EQ(ParseListenAddress("127.0.0.1:0")->port, 0);
}

TEST(ListenAddress, TellsOthersApart) {
  for (const char* text : {"0.0.0.0:50051", "[::]:50051", "192.168.0.1:50051", "example.org:50051", "127.0.0.1.example.org:1",
                           "128.0.0.1:1", "127.1:1"}) {
    const auto address = ParseListenAddress(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_FALSE(address->loopback) << text;
  }
}

TEST(ListenAddress, RefusesWhatIsNone) {
  for (const char* text : {"", "127.0.0.1", ":50051", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1", "127.0.0.1:65536"}) {
    EXPECT_THAT(std::string(ParseListenAddress(text).status().message()), HasSubstr("must be HOST:PORT")) << text;
  }
}

}  // namespace
}  // namespace eipc::rpc
