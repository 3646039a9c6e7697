#include "server/os/file_system.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace eipc {
namespace {

namespace fs = std::filesystem;

// All descriptors of this process, as long as it lives.
class NoDescriptorLeft {
 public:
  NoDescriptorLeft() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few = {std::min<rlim_t>(before_.rlim_cur, 64), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int file; (file = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(file);
    EXPECT_EQ(errno, EMFILE);
  }
  ~NoDescriptorLeft() {
    for (const int file : taken_) close(file);
    setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_ = {};
  std::vector<int> taken_;
};

int OpenDescriptors() {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) count += entry.path().has_filename();
  return count;
}

class FileSystemTest : public ::testing::Test {
 protected:
  FileSystemTest() {
    std::string pattern = ::testing::TempDir() + "file_system_XXXXXX";
    root_ = mkdtemp(pattern.data());
    folder_ = root_ + "/folder";
    fs::create_directory(folder_);
  }
  ~FileSystemTest() override { fs::remove_all(root_); }

  std::string root_, folder_;
  FileSystem files_;
};

TEST_F(FileSystemTest, AFolderThatWasSyncedOnceNeedsNoDescriptor) {
  const std::string other = root_ + "/other";
  fs::create_directory(other);
  ASSERT_EQ(files_.SyncFolder(folder_), 0);
  const NoDescriptorLeft none;
  EXPECT_EQ(files_.SyncFolder(folder_), 0);
  EXPECT_TRUE(RemoveFile(&files_, folder_ + "/absent").ok());
  EXPECT_EQ(files_.SyncFolder(other), -1);
  EXPECT_EQ(errno, EMFILE);
}

// A folder that was held is not taken for the one that has its name now.
TEST_F(FileSystemTest, AFolderThatWasReplacedIsOpenedAnew) {
  ASSERT_EQ(files_.SyncFolder(folder_), 0);
  const int before = OpenDescriptors();
  fs::rename(folder_, root_ + "/moved");
  EXPECT_EQ(files_.SyncFolder(folder_), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(OpenDescriptors(), before - 1);
  std::ofstream(folder_).flush();
  EXPECT_EQ(files_.SyncFolder(folder_), -1);
  EXPECT_EQ(errno, ENOTDIR);
  fs::remove(folder_);
  fs::create_directory(folder_);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(files_.SyncFolder(folder_), 0);
  EXPECT_EQ(OpenDescriptors(), before);
}

// What is held is kept where its name cannot be looked up for a while: without a descriptor it could not be opened again.
TEST_F(FileSystemTest, AFolderThatCannotBeLookedUpIsKept) {
  const std::string parent = root_ + "/parent", folder = parent + "/folder", aside = root_ + "/aside";
  fs::create_directories(folder);
  ASSERT_EQ(files_.SyncFolder(folder), 0);
  const int before = OpenDescriptors();
  fs::rename(parent, aside);
  fs::create_symlink("parent", parent);  // to itself
  EXPECT_EQ(files_.SyncFolder(folder), -1);
  EXPECT_EQ(errno, ELOOP);
  EXPECT_EQ(OpenDescriptors(), before);
  fs::remove(parent);
  fs::rename(aside, parent);
  const NoDescriptorLeft none;
  EXPECT_EQ(files_.SyncFolder(folder), 0);
}

TEST_F(FileSystemTest, ThreadsMaySyncAFolderThatIsBeingReplaced) {
  std::atomic<bool> stop = false;
  std::atomic<int> synced = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        if (files_.SyncFolder(folder_) == 0) {
          ++synced;
        } else {
          EXPECT_EQ(errno, ENOENT);
        }
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    const int before = synced;
    while (synced == before) std::this_thread::yield();
    fs::rename(folder_, root_ + "/" + std::to_string(i));
    fs::create_directory(folder_);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace eipc
