#ifndef EIPC_SERVER_OS_FILE_SYSTEM_H_
#define EIPC_SERVER_OS_FILE_SYSTEM_H_

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace eipc {

// An open file; closed when destroyed.
class OpenFile {
 public:
  explicit OpenFile(int file) : file_(file) {}
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const { return file_; }

 private:
  const int file_;
};

// What the journal asks of the operating system. Every function fails as the system call that it is named after: -1 and errno.
// Tests override some of them to see what happens when they fail.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // A new file that is appended to, readable by its owner only.
  virtual int Create(const std::string& path);
  // A file that exists already, to be appended to.
  virtual int OpenForAppend(const std::string& path);
  virtual ssize_t Write(int file, const char* bytes, size_t size);
  // The file's contents are on the disk when it returns 0.
  virtual int Sync(int file);
  virtual int Truncate(int file, off_t size);
  virtual int Rename(const std::string& from, const std::string& to);
  virtual int Unlink(const std::string& path);
  // The folder's entries are on the disk when it returns 0. A folder that was synced once is held open: later calls need no
  // descriptor, so that a process which has none left can go on.
  virtual int SyncFolder(const std::string& folder);

  // 0 while `path` names this open file; ENOENT or ESTALE once its name or a folder above it was removed or replaced.
  virtual int CheckName(int file, const std::string& path);

  // The operating system itself.
  static FileSystem* Real();

 private:
  // The folder of this name, opened when it is not held; null with errno when it cannot be.
  std::shared_ptr<const OpenFile> Folder(const std::string& path);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const OpenFile>> folders_;  // by path; guarded by mutex_
};

// Writes all of it, or says why not.
absl::Status WriteAll(FileSystem* files, int file, absl::string_view bytes, const std::string& path);

// A name beside `path` that no other call in this process gets; it ends in kTemporarySuffix.
inline constexpr char kTemporarySuffix[] = ".tmp";
std::string TemporaryBeside(const std::string& path);

// The file is there with these bytes, one piece after another, on the disk, or it is as it was: writes beside it, syncs, renames,
// syncs the folder.
absl::Status ReplaceFile(FileSystem* files, const std::string& path, absl::Span<const absl::string_view> pieces);

// The file is gone, on the disk. One that is not there is gone already.
absl::Status RemoveFile(FileSystem* files, const std::string& path);

absl::Status SyncFolderOf(FileSystem* files, const std::string& path);

}  // namespace eipc

#endif  // EIPC_SERVER_OS_FILE_SYSTEM_H_
