#ifndef EIPC_TESTS_SERVER_SESSION_JOURNAL_FIXTURE_H_
#define EIPC_TESTS_SERVER_SESSION_JOURNAL_FIXTURE_H_

// A folder with the journal of one session, on a file system that can be made to fail.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/session/journal.h"
#include "server/session/recover.h"
#include "server/session/session_registry.h"
#include "tests/server/session/session_scenes.h"

namespace eipc {

namespace fs = std::filesystem;

inline constexpr char kName[] = "sessions/3-1-abc";

// The operating system, some of whose calls fail with EIO while a test says so.
class FailingFiles : public FileSystem {
 public:
  ssize_t Write(int file, const char* bytes, size_t size) override {
    if (!fail_write) return FileSystem::Write(file, bytes, size);
    return FileSystem::Write(file, bytes, size / 2) < 0 ? -1 : Fail();  // half of it came through
  }
  int Sync(int file) override { return fail_sync ? Fail() : FileSystem::Sync(file); }
  int Truncate(int file, off_t size) override { return fail_truncate ? Fail() : FileSystem::Truncate(file, size); }
  int SyncFolder(const std::string& folder) override {
    if (fail_folder) return Fail();
    const std::lock_guard<std::mutex> lock(mutex);
    synced_folders.insert(folder);
    return FileSystem::SyncFolder(folder);
  }
  int Unlink(const std::string& path) override { return fail_unlink ? Fail() : FileSystem::Unlink(path); }
  int Rename(const std::string& from, const std::string& to) override {
    if (before_rename) before_rename();
    return FileSystem::Rename(from, to);
  }
  std::atomic<bool> fail_write = false, fail_sync = false, fail_truncate = false, fail_folder = false, fail_unlink = false;
  std::function<void()> before_rename;
  std::mutex mutex;
  std::set<std::string> synced_folders;  // guarded by mutex

 private:
  static int Fail() {
    errno = EIO;
    return -1;
  }
};

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() : scenes_(4, 1000), slots_(2, 16), model_(testing::PressedBox()) {
    std::string pattern = (fs::temp_directory_path() / "eipc-journal-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    EXPECT_TRUE(scenes_.Add({"scenes/a", model_, "payload"}).ok());
  }
  ~JournalTest() override { fs::remove_all(folder_); }

  std::unique_ptr<JournalStore> Open(int64_t checkpoint_bytes = 1 << 20, std::chrono::milliseconds replay = std::chrono::hours(1)) {
    JournalStore::Options options{folder_, std::chrono::milliseconds(1), checkpoint_bytes, replay};
    options.watch_interval = watch_interval_;
    options.files = &files_;
    options.on_failed = [this](const std::string&, const absl::Status&) { ++stopped_; };
    auto store = JournalStore::Open(options);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  std::unique_ptr<Session> NewSession(JournalStore* store) {
    auto session = std::make_unique<Session>(*scenes_.PinScene("scenes/a"), Session::Options{.worlds = 2, .owner = "lab"});
    session->AttachLog(std::make_unique<SessionLog>(store->JournalOf(kName), false, 0));
    EXPECT_TRUE(session->CheckpointLog(kName).ok());
    return session;
  }
  absl::Status Take(Session* session, int substeps, const std::string& id = "") {
    StepCommand command;
    command.dt_s = 0.01;
    command.substeps = substeps;
    command.targets = {{0, testing::PlateAt(static_cast<int>(session->world().state().step) + 1)}};
    const absl::Status status = session->Step(command, {}, &slots_);
    return status.ok() ? session->Acknowledge(0, id, "request", "answer " + id) : status;
  }
  absl::StatusOr<RecoveredSession> Recover(const std::string& bytes) {
    return RecoverSession(*scenes_.PinScene("scenes/a"), bytes);
  }
  // The session as a server after this one finds it.
  std::unique_ptr<Session> ComeBack(const JournalStore& store) {
    const auto log = store.ReadLog(kName);
    EXPECT_TRUE(log.ok()) << log.status();
    if (!log.ok()) return nullptr;
    auto recovered = Recover(log->bytes);
    EXPECT_TRUE(recovered.ok()) << recovered.status();
    return recovered.ok() ? std::move(recovered->session) : nullptr;
  }
  std::vector<fs::path> Logs() {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder_ + "/sessions")) paths.push_back(entry.path());
    return paths;
  }

  std::string folder_;
  std::chrono::milliseconds watch_interval_ = std::chrono::hours(1);
  FailingFiles files_;
  std::atomic<int> stopped_ = 0;
  SceneRegistry scenes_;
  SolveSlots slots_;
  std::shared_ptr<const Model> model_;
};

}  // namespace eipc

#endif  // EIPC_TESTS_SERVER_SESSION_JOURNAL_FIXTURE_H_
