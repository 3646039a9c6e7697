#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_readers.h"
#include "sim/mesh/text_scanner.h"

namespace eipc {
namespace {

// Sections of cells that make up a body or its surface but are not read: a mesh without them would be another one.
bool IsRefused(absl::string_view section) {
  constexpr absl::string_view kRefused[] = {"Hexahedra",    "Hexaedra",     "Prisms",           "Pyramids",
                                            "TetrahedraP2", "TetrahedraP3", "TetrahedraP4",     "TrianglesP2",
                                            "TrianglesP3",  "TrianglesP4",  "QuadrilateralsQ2", "HexahedraQ2"};
  return std::find(std::begin(kRefused), std::end(kRefused), section) != std::end(kRefused);
}

// The format of Medit (Frey 2001, "MEDIT: an interactive mesh visualization software", INRIA RT-0253, appendix): sections of a
// name, a count and as many entries, in free layout with comments from '#'. Every entry ends with a reference number, which is not
// kept.
class MeditReader {
 public:
  MeditReader(absl::string_view text, const std::string& file, MemoryMeter* meter) : scan_(text, file), meter_(meter) {}

  absl::StatusOr<MeshData> Read() {
    EIPC_RETURN_IF_ERROR(ReadHeader());
    for (absl::string_view section = Token(); !section.empty() && section != "End"; section = NextSection()) {
      EIPC_RETURN_IF_ERROR(ReadSection(section));
    }
    return std::move(mesh_);
  }

 private:
  // The next token that is not in a comment; empty at the end.
  absl::string_view Token() {
    while (true) {
      const absl::string_view token = scan_.Token();
      if (token.empty() || token[0] != '#') return token;
      scan_.Line();
    }
  }

  // A section that was read leaves nothing in front of the next; one that was skipped left its numbers.
  absl::string_view NextSection() {
    absl::string_view token = Token();
    while (skipping_ && !token.empty() && !absl::ascii_isalpha(token[0])) token = Token();
    return token;
  }

  absl::Status ReadHeader() {
    if (Token() != "MeshVersionFormatted") return scan_.Error("not a Medit file: it must start with 'MeshVersionFormatted'");
    EIPC_RETURN_IF_ERROR(Integer("the version").status());
    if (Token() != "Dimension") return scan_.Error("expected 'Dimension' after the version");
    EIPC_ASSIGN_OR_RETURN(const int64_t dimension, Integer("the dimension"));
    return dimension == 3 ? absl::OkStatus() : scan_.Error(absl::StrCat("Dimension must be 3, got ", dimension));
  }

  absl::Status ReadSection(absl::string_view section) {
    skipping_ = false;
    if (section == "Vertices") return ReadVertices();
    if (section == "Tetrahedra") return ReadCells<4>([this](const Tet& t) { return Append(t, &mesh_.tets, meter_); });
    if (section == "Triangles") return ReadCells<3>([this](const Triangle& t) { return Append(t, &mesh_.triangles, meter_); });
    if (section == "Quadrilaterals") return ReadCells<4>([this](const Tet& corners) { return AddQuadrilateral(corners); });
    if (IsRefused(section)) {
      return scan_.Error(absl::StrCat(section, " are not read; save the mesh with tetrahedra or triangles of first order"));
    }
    if (!absl::ascii_isalpha(section[0])) {
      return scan_.Error(absl::StrCat("expected the name of a section, got ", Quoted(section), "; is a count above too small?"));
    }
    skipping_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> Integer(absl::string_view what) {
    const absl::string_view token = Token();
    int64_t value = 0;
    if (!ParseInteger(token, &value)) return scan_.Error(absl::StrCat(what, " must be an integer, got ", Quoted(token)));
    return value;
  }

  absl::StatusOr<int64_t> Count(int64_t least_bytes) {
    EIPC_ASSIGN_OR_RETURN(const int64_t count, Integer("the number of entries"));
    EIPC_RETURN_IF_ERROR(scan_.CheckRoom(count, least_bytes, "the number of entries"));
    if (count > kMaxMeshElements) return scan_.Error("too many entries");
    return count;
  }

  absl::Status ReadVertices() {
    if (!mesh_.vertices.empty()) return scan_.Error("a second section Vertices");
    EIPC_ASSIGN_OR_RETURN(const int64_t count, Count(8));
    for (int64_t i = 0; i < count; ++i) {
      Vec3 p;
      for (int k = 0; k < 3; ++k) {
        const absl::string_view token = Token();
        if (ParseFiniteDouble(token, &p[k])) continue;
        return scan_.Error(absl::StrCat("vertex ", i, " of ", count, " needs three finite coordinates, got ", Quoted(token)));
      }
      EIPC_RETURN_IF_ERROR(Integer("the reference of a vertex").status());
      EIPC_RETURN_IF_ERROR(Append(p, &mesh_.vertices, meter_));
    }
    return absl::OkStatus();
  }

  template <size_t kCorners, typename Add>
  absl::Status ReadCells(Add&& add) {
    const int64_t vertices = static_cast<int64_t>(mesh_.vertices.size());
    if (vertices == 0) return scan_.Error("the section Vertices must come first");
    EIPC_ASSIGN_OR_RETURN(const int64_t count, Count(2 * kCorners + 2));
    for (int64_t i = 0; i < count; ++i) {
      std::array<int32_t, kCorners> cell;
      for (int32_t& corner : cell) {
        EIPC_ASSIGN_OR_RETURN(const int64_t index, Integer("a vertex index"));
        if (index < 1 || index > vertices) {
          return scan_.Error(
              absl::StrCat("vertex index ", index, " is out of range: there are ", vertices, " vertices (indices start at 1)"));
        }
        corner = static_cast<int32_t>(index - 1);
      }
      EIPC_RETURN_IF_ERROR(Integer("the reference of a cell").status());
      EIPC_RETURN_IF_ERROR(add(cell));
    }
    return absl::OkStatus();
  }

  absl::Status AddQuadrilateral(const std::array<int32_t, 4>& c) {
    EIPC_RETURN_IF_ERROR(Append<Triangle>({c[0], c[1], c[2]}, &mesh_.triangles, meter_));
    return Append<Triangle>({c[0], c[2], c[3]}, &mesh_.triangles, meter_);
  }

  TextScanner scan_;
  MemoryMeter* meter_;
  bool skipping_ = false;
  MeshData mesh_;
};

}  // namespace

absl::StatusOr<MeshData> ReadMedit(absl::string_view text, const std::string& file, MemoryMeter* meter) {
  return MeditReader(text, file, meter).Read();
}

}  // namespace eipc
