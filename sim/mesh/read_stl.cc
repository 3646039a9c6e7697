#include <bit>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_readers.h"
#include "sim/mesh/text_scanner.h"

namespace eipc {
namespace {

static_assert(std::endian::native == std::endian::little, "binary STL is little-endian");
constexpr size_t kHeaderBytes = 84;
constexpr size_t kFacetBytes = 50;

// STL repeats every corner; exactly equal ones are one vertex.
class Welder {
 public:
  Welder(MeshData* mesh, MemoryMeter* meter) : mesh_(mesh), meter_(meter) {}
  absl::StatusOr<int32_t> Index(const Vec3& p) {
    const Key key(p.x() + 0.0, p.y() + 0.0, p.z() + 0.0);  // + 0.0 makes -0 and 0 one
    if (const auto found = index_.find(key); found != index_.end()) return found->second;
    const int32_t index = static_cast<int32_t>(mesh_->vertices.size());
    EIPC_RETURN_IF_ERROR(Append(p, &mesh_->vertices, meter_, kIndexBytes));
    index_.emplace(key, index);
    return index;
  }

 private:
  using Key = std::tuple<double, double, double>;
  // Of an entry of the map, which is at least 7/16 full.
  static constexpr size_t kIndexBytes = 3 * sizeof(std::pair<const Key, int32_t>);
  MeshData* mesh_;
  MemoryMeter* meter_;
  absl::flat_hash_map<Key, int32_t> index_;
};

uint32_t BinaryCount(absl::string_view content) {
  uint32_t count = 0;
  std::memcpy(&count, content.data() + kHeaderBytes - 4, 4);
  return count;
}

absl::StatusOr<MeshData> ReadBinary(absl::string_view content, const std::string& file, MemoryMeter* meter) {
  MeshData mesh;
  Welder weld(&mesh, meter);
  const size_t count = BinaryCount(content);
  for (size_t f = 0; f < count; ++f) {
    float corner[9];
    std::memcpy(corner, content.data() + kHeaderBytes + f * kFacetBytes + 12, sizeof(corner));
    Triangle triangle;
    for (int k = 0; k < 3; ++k) {
      const Vec3 p(corner[3 * k], corner[3 * k + 1], corner[3 * k + 2]);
      if (!p.allFinite())
        return absl::InvalidArgumentError(absl::StrCat(file, ": facet ", f, " has a coordinate that is not finite"));
      EIPC_ASSIGN_OR_RETURN(triangle[k], weld.Index(p));
    }
    EIPC_RETURN_IF_ERROR(Append(triangle, &mesh.triangles, meter));
  }
  return mesh;
}

absl::StatusOr<MeshData> ReadAscii(absl::string_view content, const std::string& file, MemoryMeter* meter) {
  TextScanner scan(content, file);
  MeshData mesh;
  Welder weld(&mesh, meter);
  Triangle triangle = {0, 0, 0};
  int corners = 0;
  scan.Line();  // solid NAME
  while (!scan.AtEnd()) {
    absl::string_view line = scan.ContentLine();
    const std::string keyword = absl::AsciiStrToLower(CutToken(&line));
    if (keyword == "vertex") {
      Vec3 p;
      for (int k = 0; k < 3; ++k) {
        if (!ParseFiniteDouble(CutToken(&line), &p[k])) return scan.Error("a vertex needs three finite coordinates");
      }
      if (corners == 3) return scan.Error("a facet of more than three corners; triangulate the mesh");
      EIPC_ASSIGN_OR_RETURN(triangle[corners], weld.Index(p));
      ++corners;
    } else if (keyword == "endfacet") {
      if (corners != 3) return scan.Error(absl::StrCat("a facet of ", corners, " corners"));
      EIPC_RETURN_IF_ERROR(Append(triangle, &mesh.triangles, meter));
      corners = 0;
    } else if (keyword != "facet" && keyword != "outer" && keyword != "endloop" && keyword != "endsolid" && keyword != "solid") {
      return scan.Error("not a line of an ASCII STL file");
    }
  }
  if (corners != 0) return scan.Error("the file ends inside a facet; it is cut short");
  return mesh;
}

}  // namespace

absl::StatusOr<MeshData> ReadStl(absl::string_view content, const std::string& file, MemoryMeter* meter) {
  // Some binary files begin with "solid" too, so the size decides first.
  if (content.size() >= kHeaderBytes && content.size() == kHeaderBytes + kFacetBytes * size_t{BinaryCount(content)}) {
    return ReadBinary(content, file, meter);
  }
  if (absl::StartsWithIgnoreCase(absl::StripLeadingAsciiWhitespace(WithoutByteOrderMark(content)), "solid"))
    return ReadAscii(content, file, meter);
  // Some exporters pad the file.
  if (content.size() > kHeaderBytes && content.size() > kHeaderBytes + kFacetBytes * size_t{BinaryCount(content)} &&
      BinaryCount(content) > 0) {
    return ReadBinary(content, file, meter);
  }
  if (content.size() < kHeaderBytes) return absl::InvalidArgumentError(absl::StrCat(file, ": too short for an STL file"));
  return absl::InvalidArgumentError(absl::StrCat(file, ": a binary STL file of ", BinaryCount(content), " facets has ",
                                                 kHeaderBytes + kFacetBytes * size_t{BinaryCount(content)}, " bytes, this one ",
                                                 content.size(), "; it is cut short or damaged"));
}

}  // namespace eipc
