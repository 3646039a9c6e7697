#include "tools/condensed_cache.h"

#include <fstream>
#include <mutex>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "models/sha256.h"
#include "server/os/files.h"
#include "server/session/build_id.h"
#include "sim/meshing/condensed_store.h"
#include "tools/cage_cache.h"

namespace eipc {
namespace {

constexpr char kFile[] = "stiffness";

class CondensedCache : public CondensedStore {
 public:
  std::optional<std::string> Find(absl::string_view key) override {
    const std::lock_guard lock(mutex_);
    const std::string folder = absl::StrCat(Folders().folder(), "/", NameOf(key));
    if (!EntryIsSound(folder)) return std::nullopt;
    absl::StatusOr<std::string> bytes = ReadWholeFile(absl::StrCat(folder, "/", kFile));
    return bytes.ok() ? std::optional(*std::move(bytes)) : std::nullopt;
  }

  void Keep(absl::string_view key, absl::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    Folders()
        .Get(NameOf(key),
             [bytes](const std::string& folder) {
               std::ofstream out(absl::StrCat(folder, "/", kFile), std::ios::binary);
               out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
               out.close();
               return out ? absl::OkStatus() : absl::UnavailableError("cannot be written");
             })
        .IgnoreError();
  }

 private:
  static std::string NameOf(absl::string_view key) {
    return "condensed-" + Sha256Hex(absl::StrCat(BuildId(), "\n", key)).substr(0, 32);
  }

  // Made at its first use, so that commands without condensed cages make no folder.
  CageCache& Folders() {
    if (!folders_) folders_.emplace("");
    return *folders_;
  }

  std::mutex mutex_;
  std::optional<CageCache> folders_;
};

}  // namespace

void UseCondensedCache() {
  static CondensedCache cache;
  SetCondensedStore(&cache);
}

}  // namespace eipc
