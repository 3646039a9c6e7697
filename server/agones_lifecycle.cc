#include "server/agones_lifecycle.h"

#include <utility>

namespace eipc {
namespace {

constexpr int kShutdownAttempts = 3;

}  // namespace

AgonesLifecycle::AgonesLifecycle(Options options) : options_(std::move(options)), thread_([this] { Loop(); }) {}

AgonesLifecycle::~AgonesLifecycle() { Stop(); }

void AgonesLifecycle::Shutdown() {
  Stop();
  for (int attempt = 0; attempt < kShutdownAttempts && !Send("/shutdown"); ++attempt) {
  }
}

void AgonesLifecycle::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void AgonesLifecycle::Loop() {
  auto health_at = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_) {
    const auto now = std::chrono::steady_clock::now();
    const bool health_due = now >= health_at;
    if (health_due) health_at = now + options_.health_interval;
    lock.unlock();
    Poll(health_due);
    lock.lock();
    wake_.wait_for(lock, options_.poll_interval, [this] { return stop_; });
  }
}

void AgonesLifecycle::Poll(bool health_due) {
  if (health_due) Send("/health");
  if (!options_.takes_work()) return;
  if (state_ == State::kUnknown && Send("/ready")) state_ = State::kReady;
  const bool used = options_.sessions() > 0;
  if (used && state_ == State::kReady && Send("/allocate")) state_ = State::kAllocated;
  if (!used && state_ == State::kAllocated && Send("/ready")) state_ = State::kReady;
}

bool AgonesLifecycle::Send(const std::string& path) {
  const absl::Status status = options_.post(path);
  const bool logged = std::exchange(failing_, !status.ok());
  if (options_.events) {
    if (!status.ok() && !logged) {
      options_.events({rpc::Event::Level::kWarning, "agones_sdk_failed", {{"problem", std::string(status.message())}}});
    }
    if (status.ok() && path != "/health") options_.events({rpc::Event::Level::kInfo, "agones_sent", {{"call", path}}});
  }
  return status.ok();
}

}  // namespace eipc
