// libFuzzer target: one byte chooses a format, the rest is the file. No reader may crash, hold more than its meter allows
// (./dev fuzz bounds what may be allocated at once) or return an index that is out of range; what it returns, the mesh factories
// must accept or refuse.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "sim/mesh/mesh_formats.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"

namespace {

class Meter : public eipc::MemoryMeter {
 public:
  absl::Status Add(int64_t bytes) override {
    if (bytes > left_) return absl::ResourceExhaustedError("no more");
    left_ -= bytes;
    return absl::OkStatus();
  }

 private:
  int64_t left_ = 16 << 20;
};

template <size_t kSize>
void RequireInRange(const std::vector<std::array<int32_t, kSize>>& cells, size_t vertices) {
  for (const auto& cell : cells) {
    for (int32_t v : cell) {
      if (v >= 0 && static_cast<size_t>(v) < vertices) continue;
      std::fprintf(stderr, "index %d of %zu vertices\n", v, vertices);
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view content(reinterpret_cast<const char*>(data) + 1, size - 1);
  Meter meter;
  const absl::Span<const eipc::MeshFormat> formats = eipc::MeshFormats();
  const absl::StatusOr<eipc::MeshData> mesh = formats[data[0] % formats.size()].read(content, "fuzzed", &meter);
  if (!mesh.ok()) return 0;
  RequireInRange(mesh->triangles, mesh->vertices.size());
  RequireInRange(mesh->tets, mesh->vertices.size());
  (void)eipc::SurfaceMesh::Create(mesh->vertices, mesh->triangles);
  (void)eipc::TetMesh::Create(mesh->vertices, mesh->tets);
  return 0;
}
