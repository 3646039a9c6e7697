#include "server/rpc/telemetry/line_writer.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace eipc::rpc {
namespace {

bool WriteEverything(int file, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      // Another process that shares the descriptor has made it non-blocking.
      pollfd room = {file, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// In a file the text is there whole or not at all: when the disk fills up before its end, the written part is cut off again.
bool WriteWhole(int file, absl::string_view text) {
  struct stat before = {};
  const bool regular = fstat(file, &before) == 0 && S_ISREG(before.st_mode);
  if (WriteEverything(file, text)) return true;
  if (regular) (void)!ftruncate(file, before.st_size);
  return false;
}

}  // namespace

std::string TimeNow() { return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone()); }

struct LineWriter::State {
  State(int first_file, Options o) : options(std::move(o)), file(first_file) {}

  // Runs on the thread until it is stopped and the queue is empty.
  void Run();
  void WriteNext(std::unique_lock<std::mutex>* lock);
  // Lines were lost: whether on_loss is to be called. Requires mutex.
  bool Lose(int64_t count) {
    missing += count;
    counts.lost += count;
    return !std::exchange(losing, true) && options.on_loss != nullptr;
  }

  const Options options;
  std::mutex mutex;
  std::condition_variable pushed, idle;
  // Guarded by mutex.
  std::deque<std::string> queue;
  size_t queue_bytes = 0;
  int64_t missing = 0;  // lost since the last line that was written
  Counts counts;
  bool losing = false;
  bool writing = false;
  bool stop = false;
  bool done = false;
  int next_file = -1;
  // The thread's alone.
  int file;
};

void LineWriter::State::WriteNext(std::unique_lock<std::mutex>* lock) {
  std::string text = std::move(queue.front());
  queue.pop_front();
  queue_bytes -= text.size();
  const int64_t gap = std::exchange(missing, 0);
  const int replaced = next_file >= 0 ? std::exchange(file, std::exchange(next_file, -1)) : -1;
  writing = true;
  lock->unlock();
  if (replaced >= 0) close(replaced);
  if (gap > 0 && options.gap) text = absl::StrCat(options.gap(gap), "\n", text);
  const bool written = WriteWhole(file, text);
  if (written && gap > 0 && options.on_resume) options.on_resume(gap);
  lock->lock();
  writing = false;
  if (written) {
    ++counts.written;
    losing = missing > 0;
    return;
  }
  missing += gap;  // still not said
  if (Lose(1)) {
    lock->unlock();
    options.on_loss();
    lock->lock();
  }
}

void LineWriter::State::Run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    if (queue.empty()) idle.notify_all();
    pushed.wait(lock, [this] { return stop || !queue.empty(); });
    if (queue.empty()) break;
    WriteNext(&lock);
  }
  if (next_file >= 0) close(next_file);
  close(file);
  done = true;
  idle.notify_all();
}

LineWriter::LineWriter(int file, Options options)
    : state_(std::make_shared<State>(file, std::move(options))), thread_([state = state_] { state->Run(); }) {}

LineWriter::~LineWriter() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->stop = true;
  state_->pushed.notify_all();
  const bool done = state_->idle.wait_for(lock, state_->options.patience, [this] { return state_->done; });
  lock.unlock();
  if (done) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void LineWriter::Push(std::string line) {
  line.push_back('\n');
  State& state = *state_;
  bool call = false;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    state.queue_bytes += line.size();
    state.queue.push_back(std::move(line));
    while (state.queue_bytes > state.options.max_queue_bytes && state.queue.size() > 1) {
      state.queue_bytes -= state.queue.front().size();
      state.queue.pop_front();
      call = state.Lose(1) || call;
    }
  }
  state.pushed.notify_one();
  if (call) state.options.on_loss();
}

void LineWriter::SwitchTo(int file) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->next_file >= 0) close(state_->next_file);
  state_->next_file = file;
}

void LineWriter::Flush() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->idle.wait_for(lock, state_->options.patience, [this] { return state_->queue.empty() && !state_->writing; });
}

LineWriter::Counts LineWriter::counts() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->counts;
}

}  // namespace eipc::rpc
