#include "server/rpc/listen/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

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

TEST(ListenAddress, TakesUnixSockets) {
  const auto address = ParseListenAddress("unix:/run/eipc/grpc.sock");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->path, "/run/eipc/grpc.sock");
  EXPECT_TRUE(address->host.empty());
  EXPECT_FALSE(ParseListenAddress("unix:").ok());
  EXPECT_FALSE(ParseListenAddress("unix:/" + std::string(200, 'x')).ok());
}

class UnixSocketTest : public ::testing::Test {
 protected:
  UnixSocketTest() {
    char name[] = "/tmp/eipc_listen_XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~UnixSocketTest() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/grpc.sock"; }
  // A socket file; its descriptor listens.
  int Bind() const {
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path().c_str());
    EXPECT_EQ(bind(file, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(file, 1), 0);
    return file;
  }
  std::string folder_;
};

TEST_F(UnixSocketTest, MakesItsFolderForItselfAlone) {
  ASSERT_TRUE(PrepareUnixSocket(folder_ + "/new/grpc.sock").ok());
  struct stat info;
  ASSERT_EQ(stat((folder_ + "/new").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(UnixSocketTest, RefusesAFolderThatOthersMayEnter) {
  ASSERT_EQ(chmod(folder_.c_str(), 0710), 0);
  const absl::Status status = PrepareUnixSocket(path());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("must belong to this user alone (chmod 0700)"));
}

TEST_F(UnixSocketTest, RemovesOnlySocketsThatNobodyListensOn) {
  const int file = Bind();
  EXPECT_EQ(PrepareUnixSocket(path()).code(), absl::StatusCode::kUnavailable);
  close(file);
  EXPECT_TRUE(PrepareUnixSocket(path()).ok());
  EXPECT_FALSE(std::filesystem::exists(path()));
  std::ofstream(path()) << "a file";
  EXPECT_EQ(PrepareUnixSocket(path()).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::exists(path()));
}

}  // namespace
}  // namespace eipc::rpc
