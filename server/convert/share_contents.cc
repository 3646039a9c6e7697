#include "server/convert/share_contents.h"

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/scene_meshes.h"
#include "sim/base/memory_meter.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

// Files by their content, in the order in which meshes first have them.
class Files {
 public:
  // The number of a file with this content.
  size_t Number(absl::string_view file_name, absl::string_view data) {
    const auto [found, is_new] = numbers_.try_emplace({data.size(), file_name, data}, uses_.size());
    if (is_new) uses_.push_back(0);
    return found->second;
  }
  void Use(size_t number) { ++uses_[number]; }
  size_t count() const { return uses_.size(); }
  bool IsShared(size_t number) const { return uses_[number] > 1; }

 private:
  // Sizes first: most files differ in them.
  std::map<std::tuple<size_t, absl::string_view, absl::string_view>, size_t> numbers_;
  std::vector<int> uses_;
};

struct Use {
  v1::Mesh* mesh;
  size_t file;
};

// Which file each mesh has. Kept files are found once each.
class Inventory {
 public:
  Inventory(const FindKeptFile& find, v1::Scene* scene)
      : find_(find), scene_(scene), shared_numbers_(static_cast<size_t>(scene->shared_files_size())) {}

  absl::Status Take() {
    absl::Status status;
    ForEachMesh(scene_, [&](v1::Mesh* mesh, const std::string& path) {
      if (status.ok()) status = TakeMesh(mesh, path);
    });
    return status;
  }
  // Bytes that the scene does not hold yet.
  int64_t NewBytes() const {
    int64_t bytes = 0;
    for (const auto& [reference, kept] : kept_) bytes += static_cast<int64_t>(kept.file.data.size());
    return bytes;
  }

  // Moves the bytes where they belong.
  void Rearrange() {
    std::vector<v1::MeshFile> files(files_.count());
    for (const auto& [reference, kept] : kept_) {
      v1::MeshFile& file = files[kept.number];
      file.set_file_name(std::string(kept.file.file_name));
      file.set_data(std::string(kept.file.data));
    }
    // Where a file is already, by views that the moves below end: numbers are known by now.
    for (int i = 0; i < scene_->shared_files_size(); ++i) {
      if (shared_numbers_[i]) files[*shared_numbers_[i]].Swap(scene_->mutable_shared_files(i));
    }
    for (const Use& use : uses_) {
      if (use.mesh->has_contents()) files[use.file].Swap(use.mesh->mutable_contents());
    }
    scene_->clear_shared_files();
    std::map<size_t, int> index;
    for (const Use& use : uses_) {
      if (!files_.IsShared(use.file)) {
        use.mesh->mutable_contents()->Swap(&files[use.file]);
        continue;
      }
      const auto [found, is_new] = index.try_emplace(use.file, scene_->shared_files_size());
      if (is_new) scene_->add_shared_files()->Swap(&files[use.file]);
      use.mesh->set_shared_file(found->second);
    }
  }

 private:
  absl::Status TakeMesh(v1::Mesh* mesh, const std::string& path) {
    switch (mesh->source_case()) {
      case v1::Mesh::kContents:
        return Add(mesh, files_.Number(mesh->contents().file_name(), mesh->contents().data()));
      case v1::Mesh::kSharedFile: {
        const int i = mesh->shared_file();
        if (i < 0 || i >= scene_->shared_files_size()) return OutOfRange(i, path);
        if (!shared_numbers_[i]) {
          shared_numbers_[i] = files_.Number(scene_->shared_files(i).file_name(), scene_->shared_files(i).data());
        }
        return Add(mesh, *shared_numbers_[i]);
      }
      case v1::Mesh::kFile:
        return TakeReference(mesh, path);
      default:
        return absl::OkStatus();
    }
  }

  absl::Status TakeReference(v1::Mesh* mesh, const std::string& path) {
    auto found = kept_.find(mesh->file());
    if (found == kept_.end()) {
      const absl::StatusOr<std::optional<KeptFile>> kept = find_(mesh->file());
      if (!kept.ok()) return absl::Status(kept.status().code(), absl::StrCat(kept.status().message(), " (", path, ")"));
      if (!kept->has_value()) return absl::OkStatus();
      found = kept_.emplace(mesh->file(), Kept{**kept, files_.Number((*kept)->file_name, (*kept)->data)}).first;
    }
    return Add(mesh, found->second.number);
  }

  absl::Status OutOfRange(int index, const std::string& path) const {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ".shared_file: is ", index, "; the scene has ", scene_->shared_files_size(), " shared_files"));
  }

  absl::Status Add(v1::Mesh* mesh, size_t file) {
    files_.Use(file);
    uses_.push_back({mesh, file});
    return absl::OkStatus();
  }

  struct Kept {
    KeptFile file;
    size_t number;  // found once: it compares all of the content
  };

  const FindKeptFile& find_;
  v1::Scene* const scene_;
  Files files_;
  std::vector<Use> uses_;
  std::map<std::string, Kept> kept_;                   // by reference
  std::vector<std::optional<size_t>> shared_numbers_;  // of the scene's shared files; none where no mesh has it
};

}  // namespace

absl::Status ShareContents(const FindKeptFile& find, MemoryMeter* meter, v1::Scene* scene) {
  Inventory inventory(find, scene);
  EIPC_RETURN_IF_ERROR(inventory.Take());
  EIPC_RETURN_IF_ERROR(AddTo(meter, inventory.NewBytes()));
  inventory.Rearrange();
  return absl::OkStatus();
}

}  // namespace eipc
