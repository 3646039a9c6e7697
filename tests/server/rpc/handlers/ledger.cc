#include "tests/server/rpc/handlers/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace eipc::rpc::testing {

void Digests::Saw(const std::string& scene, int64_t step, const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [entry, fresh] = digests_.try_emplace({scene, step}, digest);
  EXPECT_EQ(entry->second, digest) << scene << " at step " << step;
}

std::map<std::pair<std::string, int64_t>, std::string> Digests::all() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return digests_;
}

void Ledger::AddSession(const std::string& name, const std::string& scene, bool mortal) {
  Add("session", name);
  const std::lock_guard<std::mutex> lock(mutex_);
  scene_of_session_[name] = scene;
  if (mortal) doomed_.insert(name);
}

void Ledger::Doom(const std::string& session) {
  const std::lock_guard<std::mutex> lock(mutex_);
  doomed_.insert(session);
}

bool Ledger::Doomed(const std::string& session) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return doomed_.contains(session);
}

std::string Ledger::SceneOf(const std::string& session) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = scene_of_session_.find(session);
  return found == scene_of_session_.end() ? "" : found->second;
}

std::set<std::string> Ledger::Immortal() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::set<std::string> names;
  for (const auto& [name, scene] : scene_of_session_) {
    if (!doomed_.contains(name)) names.insert(name);
  }
  return names;
}

void Ledger::Add(const std::string& kind, const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  names_[kind].push_back(name);
}

std::string Ledger::Any(const std::string& kind, Engine* random) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = names_.find(kind);
  if (found == names_.end()) return "";
  // Mostly a recent one, which is likely to be there still.
  const std::vector<std::string>& names = found->second;
  const size_t recent = (*random)() % 4 == 0 ? names.size() : std::min<size_t>(names.size(), 6);
  return names[names.size() - 1 - (*random)() % recent];
}

}  // namespace eipc::rpc::testing
