#include "server/rpc/stream_set.h"

namespace eipc::rpc {

StreamSet::Stream::Stream(StreamSet* set, std::function<void()> interrupt) : set_(set) {
  const std::lock_guard<std::mutex> lock(set_->mutex_);
  entry_ = set_->streams_.insert(set_->streams_.end(), Entry{std::move(interrupt), false});
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
