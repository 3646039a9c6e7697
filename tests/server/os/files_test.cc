#include "server/os/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace eipc {
namespace {

using ::testing::HasSubstr;

class FilesTest : public ::testing::Test {
 protected:
  FilesTest() {
    std::string pattern = ::testing::TempDir() + "files_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~FilesTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(FilesTest, AFileIsReadWhole) {
  const std::string bytes(200'000, 'b');
  std::ofstream(folder_ / "file") << bytes;
  std::filesystem::create_symlink("file", folder_ / "link");
  EXPECT_EQ(*ReadWholeFile(folder_ / "file"), bytes);
  EXPECT_EQ(*ReadWholeFile(folder_ / "link"), bytes);
}

TEST_F(FilesTest, AFileHoldsWhatItHolds) {
  const std::string a(100'000, 'a'), b(90'000, 'b');
  std::ofstream(folder_ / "file") << a << b;
  const std::string file = folder_ / "file";
  EXPECT_TRUE(FileHolds(file, {a, b}));
  EXPECT_TRUE(FileHolds(file, {"", a + b.substr(0, 7), "", b.substr(7), ""}));
  EXPECT_FALSE(FileHolds(file, {b, a}));
  EXPECT_FALSE(FileHolds(file, {a, b, "c"}));
  EXPECT_FALSE(FileHolds(file, {a, b.substr(1)}));
  EXPECT_FALSE(FileHolds(file, {a, b.substr(1), "c"}));
  EXPECT_FALSE(FileHolds(file, {}));
  EXPECT_FALSE(FileHolds(folder_ / "absent", {}));
  std::ofstream(folder_ / "empty").flush();
  EXPECT_TRUE(FileHolds(folder_ / "empty", {}));
}

// To open a pipe would wait for its writer, and to read a device would not end.
TEST_F(FilesTest, OnlyFilesAreRead) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder_ / "zeros");
  EXPECT_THAT(std::string(ReadWholeFile(folder_ / "pipe").status().message()), HasSubstr("cannot read"));
  EXPECT_THAT(std::string(ReadWholeFile(folder_ / "zeros").status().message()), HasSubstr("cannot read"));
  EXPECT_THAT(std::string(ReadWholeFile(folder_).status().message()), HasSubstr("Is a directory"));
  EXPECT_FALSE(ReadWholeFile(folder_ / "absent").ok());
}

}  // namespace
}  // namespace eipc
