#include "server/rpc/listen/stream_set.h"

namespace eipc::rpc {

StreamSet::Stream::Stream(StreamSet* set, std::function<void()> interrupt) : set_(set) {
  const std::lock_guard<std::mutex> lock(set_->mutex_);
  entry_ = set_->streams_.insert(set_->streams_.end(), Entry{std::move(interrupt), false, Clock::time_point::max()});
}

StreamSet::Stream::~Stream() {
  const std::lock_guard<std::mutex> lock(set_->mutex_);
  set_->streams_.erase(entry_);
}

bool StreamSet::Stream::BeginWait() {
  const std::lock_guard<std::mutex> lock(set_->mutex_);
  if (set_->draining_) return false;
  entry_->waiting = true;
  return true;
}

void StreamSet::Stream::EndWait() {
  const std::lock_guard<std::mutex> lock(set_->mutex_);
  entry_->waiting = false;
}

void StreamSet::Stream::SetWriting(Clock::time_point since) {
  const std::lock_guard<std::mutex> lock(set_->mutex_);
  entry_->writing_since = since;
}

int StreamSet::InterruptWritersSince(Clock::time_point since) {
  const std::lock_guard<std::mutex> lock(mutex_);
  int count = 0;
  for (Entry& stream : streams_) {
    if (stream.writing_since >= since) continue;
    stream.interrupt();
    stream.writing_since = Clock::time_point::max();
    ++count;
  }
  return count;
}

int StreamSet::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(streams_.size());
}

void StreamSet::Drain() {
  const std::lock_guard<std::mutex> lock(mutex_);
  draining_ = true;
  for (const Entry& stream : streams_) {
    if (stream.waiting) stream.interrupt();
  }
}

bool StreamSet::draining() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return draining_;
}

}  // namespace eipc::rpc
