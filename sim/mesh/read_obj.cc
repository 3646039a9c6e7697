#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_readers.h"
#include "sim/mesh/text_scanner.h"

namespace eipc {
namespace {

class ObjReader {
 public:
  ObjReader(absl::string_view text, const std::string& file, MemoryMeter* meter) : scan_(text, file), meter_(meter) {}

  absl::StatusOr<MeshData> Read() {
    while (true) {
      EIPC_ASSIGN_OR_RETURN(absl::string_view statement, NextStatement());
      if (statement.empty()) break;
      const absl::string_view keyword = CutToken(&statement);
      if (keyword == "v") EIPC_RETURN_IF_ERROR(ReadVertex(statement));
      if (keyword == "f") EIPC_RETURN_IF_ERROR(ReadFace(statement));
    }
    EIPC_RETURN_IF_ERROR(AddTriangles());
    return std::move(mesh_);
  }

 private:
  struct Corners {
    std::array<int64_t, 3> index;
    int64_t line;
  };

  absl::Status Error(absl::string_view message) const { return scan_.ErrorAt(line_, message); }

  // The next line with content, and the lines that backslashes at their ends join to it; empty at the end. A comment is not
  // continued: some programs write paths of Windows folders into comments.
  absl::StatusOr<absl::string_view> NextStatement() {
    absl::string_view line = scan_.ContentLine();
    line_ = scan_.line();
    if (line.empty() || line.back() != '\\') return line;
    joined_.clear();
    while (!line.empty() && line.back() == '\\') {
      EIPC_RETURN_IF_ERROR(Join(line.substr(0, line.size() - 1)));
      line = WithoutComment(scan_.Line());
    }
    EIPC_RETURN_IF_ERROR(Join(line));
    return absl::string_view(joined_);
  }

  absl::Status Join(absl::string_view part) {
    const size_t size = joined_.size() + part.size() + 1;
    if (size > joined_.capacity()) {
      EIPC_RETURN_IF_ERROR(AddTo(meter_, static_cast<int64_t>(2 * size)));
      joined_.reserve(2 * size);
    }
    absl::StrAppend(&joined_, part, " ");
    return absl::OkStatus();
  }

  absl::Status ReadVertex(absl::string_view rest) {
    Vec3 p;
    for (int k = 0; k < 3; ++k) {
      const absl::string_view token = CutToken(&rest);
      if (ParseFiniteDouble(token, &p[k])) continue;
      return Error(absl::StrCat("a vertex needs three finite coordinates, got ", token.empty() ? "nothing" : Quoted(token)));
    }
    return Append(p, &mesh_.vertices, meter_);
  }

  // Vertex index (0-based) of a corner `v`, `v/vt`, `v//vn` or `v/vt/vn`; negative ones count back from the last vertex so far.
  absl::StatusOr<int64_t> ParseCorner(absl::string_view token) const {
    const int64_t vertices_so_far = static_cast<int64_t>(mesh_.vertices.size());
    int64_t index = 0;
    if (!ParseInteger(token.substr(0, token.find('/')), &index) || index == 0) {
      return Error(absl::StrCat("bad face corner ", Quoted(token), " (indices start at 1)"));
    }
    if (index > 0) return index - 1;
    if (index >= -vertices_so_far) return vertices_so_far + index;
    return Error(absl::StrCat("face corner ", index, " counts back beyond the first of ", vertices_so_far, " vertices"));
  }

  absl::Status ReadFace(absl::string_view rest) {
    polygon_.clear();
    for (absl::string_view token = CutToken(&rest); !token.empty(); token = CutToken(&rest)) {
      EIPC_ASSIGN_OR_RETURN(const int64_t index, ParseCorner(token));
      EIPC_RETURN_IF_ERROR(Append(index, &polygon_, meter_));
    }
    if (polygon_.size() < 3) return Error(absl::StrCat("a face needs at least 3 corners, got ", polygon_.size()));
    for (size_t k = 1; k + 1 < polygon_.size(); ++k) {
      EIPC_RETURN_IF_ERROR(Append<Corners>({{polygon_[0], polygon_[k], polygon_[k + 1]}, line_}, &faces_, meter_));
    }
    return absl::OkStatus();
  }

  // A face may come before its vertices, so the ranges of indices are checked last.
  absl::Status AddTriangles() {
    for (const Corners& face : faces_) {
      Triangle triangle;
      for (int k = 0; k < 3; ++k) {
        if (face.index[k] >= static_cast<int64_t>(mesh_.vertices.size())) {
          return scan_.ErrorAt(face.line, absl::StrCat("face corner ", face.index[k] + 1, " is out of range: there are ",
                                                       mesh_.vertices.size(), " vertices"));
        }
        triangle[k] = static_cast<int32_t>(face.index[k]);
      }
      EIPC_RETURN_IF_ERROR(Append(triangle, &mesh_.triangles, meter_));
    }
    return absl::OkStatus();
  }

  TextScanner scan_;
  MemoryMeter* meter_;
  std::string joined_;  // a statement of several lines
  int64_t line_ = 0;    // where the statement begins
  std::vector<int64_t> polygon_;
  std::vector<Corners> faces_;
  MeshData mesh_;
};

}  // namespace

absl::StatusOr<MeshData> ReadObj(absl::string_view text, const std::string& file, MemoryMeter* meter) {
  return ObjReader(text, file, meter).Read();
}

}  // namespace eipc
