#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_readers.h"
#include "sim/mesh/text_scanner.h"

namespace eipc {
namespace {

enum VtkCell { kVertex = 1, kPolyVertex = 2, kLine = 3, kPolyLine = 4, kTriangle = 5, kPolygon = 7, kQuad = 9, kTetra = 10 };

// Cells as lists of vertex indices: cell c is indices[offsets[c]] .. indices[offsets[c + 1]].
struct CellArray {
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> indices;
  std::vector<int64_t> lines;  // where each cell stands in the file
  size_t count() const { return offsets.size() - 1; }
};

class VtkReader {
 public:
  VtkReader(absl::string_view text, const std::string& file) : scan_(text, file) {}

  absl::StatusOr<MeshData> Read() {
    EIPC_RETURN_IF_ERROR(ReadHeader());
    while (!scan_.AtEnd()) {
      const std::string keyword = absl::AsciiStrToUpper(scan_.Token());
      if (keyword == "POINT_DATA" || keyword == "CELL_DATA") break;  // attributes come last
      EIPC_RETURN_IF_ERROR(ReadSection(keyword));
    }
    if (mesh_.vertices.empty()) return scan_.Error("no POINTS found");
    EIPC_RETURN_IF_ERROR(AddCells());
    return std::move(mesh_);
  }

 private:
  absl::Status ReadHeader() {
    if (!absl::StartsWithIgnoreCase(scan_.Line(), "# vtk DataFile Version")) {
      return scan_.Error("not a legacy VTK file: the first line must be '# vtk DataFile Version 3.0' (or up to 5.1)");
    }
    scan_.Line();  // title
    const std::string encoding = absl::AsciiStrToUpper(scan_.Token());
    if (encoding != "ASCII") return scan_.Error("only ASCII VTK files are read; save the mesh as ASCII");
    if (absl::AsciiStrToUpper(scan_.Token()) != "DATASET") return scan_.Error("expected DATASET");
    dataset_ = absl::AsciiStrToUpper(scan_.Token());
    if (dataset_ != "UNSTRUCTURED_GRID" && dataset_ != "POLYDATA") {
      return scan_.Error("DATASET must be UNSTRUCTURED_GRID or POLYDATA");
    }
    return absl::OkStatus();
  }

  absl::Status ReadSection(const std::string& keyword) {
    if (keyword == "POINTS") return ReadPoints();
    if (keyword == "CELLS" || keyword == "POLYGONS") return ReadCellArray(&cells_);
    if (keyword == "VERTICES" || keyword == "LINES") {
      CellArray ignored;
      return ReadCellArray(&ignored);
    }
    if (keyword == "CELL_TYPES") return ReadCellTypes();
    if (keyword == "FIELD") return SkipField();
    if (keyword == "METADATA") {
      scan_.Line();
      while (!scan_.AtEndOfText() && !absl::StripAsciiWhitespace(scan_.Line()).empty()) {
      }
      return absl::OkStatus();
    }
    return scan_.Error(absl::StrCat("unexpected '", keyword.substr(0, 40), "'; is a count above too small?"));
  }

  absl::Status ReadPoints() {
    if (!mesh_.vertices.empty()) return scan_.Error("a second POINTS section");
    EIPC_ASSIGN_OR_RETURN(const int64_t count, scan_.Count("the number of points", 6));
    if (count > kMaxMeshElements) return scan_.Error("too many points");
    scan_.Token();  // data type: the text is parsed as double whatever it says
    mesh_.vertices.reserve(count);
    for (int64_t i = 0; i < count; ++i) {
      Vec3 p;
      for (int k = 0; k < 3; ++k) {
        EIPC_ASSIGN_OR_RETURN(p[k], scan_.FiniteDouble(absl::StrCat("coordinate of point ", i)));
      }
      mesh_.vertices.push_back(p);
    }
    return absl::OkStatus();
  }

  absl::Status ReadCellArray(CellArray* cells) {
    if (cells->count() > 0) return scan_.Error("a second section of cells");
    EIPC_ASSIGN_OR_RETURN(const int64_t rows, scan_.Count("the number of cells", 1));
    EIPC_ASSIGN_OR_RETURN(const int64_t size, scan_.Count("the size of the cell list", 2));
    return TakeOffsets() ? ReadOffsetCells(rows, size, cells) : ReadCountedCells(rows, size, cells);
  }

  // True (and consumed) when the next token is OFFSETS, as in version 5 files.
  bool TakeOffsets() {
    const TextScanner before = scan_;
    if (absl::AsciiStrToUpper(scan_.Token()) == "OFFSETS") {
      scan_.Token();
      return true;
    }
    scan_ = before;
    return false;
  }

  absl::Status ReadIndex(CellArray* cells) {
    EIPC_ASSIGN_OR_RETURN(const int64_t index, scan_.Integer("a vertex index"));
    if (index < 0 || index >= static_cast<int64_t>(mesh_.vertices.size())) {
      return scan_.Error(absl::StrCat("vertex index ", index, " is out of range: there are ", mesh_.vertices.size(),
                                      " points (indices start at 0, and POINTS must come first)"));
    }
    cells->indices.push_back(static_cast<int32_t>(index));
    return absl::OkStatus();
  }

  absl::Status ReadCountedCells(int64_t rows, int64_t size, CellArray* cells) {
    int64_t used = 0;
    for (int64_t c = 0; c < rows; ++c) {
      EIPC_ASSIGN_OR_RETURN(const int64_t n, scan_.Count("the number of a cell's vertices", 1));
      used += n + 1;
      if (used > size) return scan_.Error(absl::StrCat("cell ", c, " goes beyond the declared list size ", size));
      cells->lines.push_back(scan_.line());
      for (int64_t k = 0; k < n; ++k) EIPC_RETURN_IF_ERROR(ReadIndex(cells));
      cells->offsets.push_back(static_cast<int64_t>(cells->indices.size()));
    }
    return absl::OkStatus();
  }

  absl::Status ReadOffsetCells(int64_t offset_count, int64_t index_count, CellArray* cells) {
    cells->offsets.clear();
    for (int64_t c = 0; c < offset_count; ++c) {
      EIPC_ASSIGN_OR_RETURN(const int64_t offset, scan_.Integer("a cell offset"));
      const int64_t least = c == 0 ? 0 : cells->offsets.back();
      if (offset < least || offset > index_count || (c == 0 && offset != 0)) {
        return scan_.Error(absl::StrCat("cell offset ", offset, " must rise from 0 to at most ", index_count));
      }
      cells->offsets.push_back(offset);
    }
    if (cells->offsets.empty()) cells->offsets.push_back(0);
    if (absl::AsciiStrToUpper(scan_.Token()) != "CONNECTIVITY") return scan_.Error("expected CONNECTIVITY after the offsets");
    scan_.Token();
    std::vector<int64_t> index_lines;
    for (int64_t i = 0; i < index_count; ++i) {
      EIPC_RETURN_IF_ERROR(ReadIndex(cells));
      index_lines.push_back(scan_.line());
    }
    for (size_t c = 0; c + 1 < cells->offsets.size(); ++c) {
      const int64_t at = cells->offsets[c];
      cells->lines.push_back(at < index_count ? index_lines[at] : scan_.line());
    }
    return absl::OkStatus();
  }

  absl::Status ReadCellTypes() {
    EIPC_ASSIGN_OR_RETURN(const int64_t count, scan_.Count("the number of cell types", 2));
    if (count != static_cast<int64_t>(cells_.count())) {
      return scan_.Error(absl::StrCat(count, " cell types for ", cells_.count(), " cells"));
    }
    types_.reserve(count);
    for (int64_t c = 0; c < count; ++c) {
      EIPC_ASSIGN_OR_RETURN(const int64_t type, scan_.Integer("a cell type"));
      types_.push_back(type);
    }
    return absl::OkStatus();
  }

  absl::Status SkipField() {
    scan_.Token();  // name
    EIPC_ASSIGN_OR_RETURN(const int64_t arrays, scan_.Count("the number of field arrays", 1));
    for (int64_t a = 0; a < arrays; ++a) {
      scan_.Token();  // name
      EIPC_ASSIGN_OR_RETURN(const int64_t components, scan_.Count("the number of components", 1));
      EIPC_ASSIGN_OR_RETURN(const int64_t tuples, scan_.Count("the number of tuples", 1));
      scan_.Token();  // data type
      if (components > 0 && tuples > 0) {
        EIPC_RETURN_IF_ERROR(scan_.CheckRoom(tuples, components, "the number of tuples"));
      }
      for (int64_t i = 0; i < components * tuples; ++i) scan_.Token();
    }
    return absl::OkStatus();
  }

  absl::Status AddCells() {
    if (dataset_ == "UNSTRUCTURED_GRID" && types_.size() != cells_.count()) return scan_.Error("no CELL_TYPES found for the cells");
    for (size_t c = 0; c < cells_.count(); ++c) {
      const int64_t type = types_.empty() ? static_cast<int64_t>(kPolygon) : types_[c];
      EIPC_RETURN_IF_ERROR(AddCell(c, type));
    }
    return absl::OkStatus();
  }

  absl::Status AddCell(size_t c, int64_t type) {
    const int32_t* v = cells_.indices.data() + cells_.offsets[c];
    const int64_t n = cells_.offsets[c + 1] - cells_.offsets[c];
    if (type == kVertex || type == kPolyVertex || type == kLine || type == kPolyLine) return absl::OkStatus();
    if (type == kTetra && n == 4) {
      mesh_.tets.push_back({v[0], v[1], v[2], v[3]});
      return absl::OkStatus();
    }
    const bool polygon = (type == kTriangle && n == 3) || (type == kQuad && n == 4) || (type == kPolygon && n >= 3);
    if (!polygon) {
      return scan_.ErrorAt(cells_.lines[c], absl::StrCat("cell ", c, " has VTK type ", type, " with ", n,
                                                         " vertices; only tetrahedra (10) and triangles (5) are read"));
    }
    for (int64_t k = 1; k + 1 < n; ++k) mesh_.triangles.push_back({v[0], v[k], v[k + 1]});
    return absl::OkStatus();
  }

  TextScanner scan_;
  std::string dataset_;
  MeshData mesh_;
  CellArray cells_;
  std::vector<int64_t> types_;
};

}  // namespace

absl::StatusOr<MeshData> ReadVtk(absl::string_view text, const std::string& file) { return VtkReader(text, file).Read(); }

}  // namespace eipc
