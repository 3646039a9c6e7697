#ifndef EIPC_TOOLS_CAGE_CACHE_H_
#define EIPC_TOOLS_CAGE_CACHE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace eipc {

// Folders of finished work, named by a digest of everything it depends on. An entry appears whole (renamed into place) with a
// checksum of each file; one that does not match its checksums is made again. Processes may share a cache without locks: at worst
// both do the work, and the first one's result stands.
class CageCache {
 public:
  // An empty folder: $EIPC_CACHE, $XDG_CACHE_HOME/eipc or ~/.cache/eipc, else a temporary one.
  explicit CageCache(std::string folder);

  struct Entry {
    std::string folder;
    bool was_cached = false;
  };
  // The folder of `key`, which `make` fills when there is none or it is damaged. What `make` leaves behind when it fails is
  // removed.
  absl::StatusOr<Entry> Get(const std::string& key, const std::function<absl::Status(const std::string& folder)>& make);

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

// Whether every file of an entry is there and matches its checksum.
bool EntryIsSound(const std::string& folder);

}  // namespace eipc

#endif  // EIPC_TOOLS_CAGE_CACHE_H_
