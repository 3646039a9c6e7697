#include "server/os/spare_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

namespace eipc {
namespace {

class Spare {
 public:
  void Hold() {
    const std::lock_guard<std::mutex> lock(mutex_);
    Open();
  }
  int Lend(const std::function<int()>& work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (file_ >= 0) close(file_);
    file_ = -1;
    const int result = work();
    const int error = errno;
    Open();
    errno = error;
    return result;
  }

 private:
  void Open() {
    if (file_ < 0) file_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }

  std::mutex mutex_;
  int file_ = -1;  // guarded by mutex_; -1: others took what was given up
};

Spare& TheSpare() {
  static Spare* const spare = new Spare;
  return *spare;
}

}  // namespace

void HoldSpareDescriptor() { TheSpare().Hold(); }

int WithSpareDescriptor(const std::function<int()>& work) {
  const int result = work();
  return result >= 0 || (errno != EMFILE && errno != ENFILE) ? result : TheSpare().Lend(work);
}

}  // namespace eipc
