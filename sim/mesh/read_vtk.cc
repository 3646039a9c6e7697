#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_readers.h"
#include "sim/mesh/number_reader.h"
#include "sim/mesh/text_scanner.h"
#include "sim/mesh/vtk_cells.h"

namespace eipc {
namespace {

// Numbers of legacy VTK's type names; other types are for attributes only.
std::optional<NumberKind> KindOf(absl::string_view name) {
  constexpr std::pair<absl::string_view, NumberKind> kNames[] = {
      {"char", NumberKind::kInt8},          {"unsigned_char", NumberKind::kUint8},
      {"short", NumberKind::kInt16},        {"unsigned_short", NumberKind::kUint16},
      {"int", NumberKind::kInt32},          {"unsigned_int", NumberKind::kUint32},
      {"long", NumberKind::kInt64},         {"unsigned_long", NumberKind::kUint64},
      {"vtktypeint64", NumberKind::kInt64}, {"vtktypeint32", NumberKind::kInt32},
      {"vtkidtype", NumberKind::kInt32},    {"float", NumberKind::kFloat32},
      {"double", NumberKind::kFloat64}};
  for (const auto& [known, kind] : kNames) {
    if (absl::EqualsIgnoreCase(name, known)) return kind;
  }
  return std::nullopt;
}

// Cells as lists of vertex indices: cell c is indices[offsets[c]] .. indices[offsets[c + 1]].
struct CellArray {
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> indices;
  std::vector<int64_t> lines;  // where each cell stands in the file
  size_t count() const { return offsets.size() - 1; }
};

class VtkReader {
 public:
  VtkReader(absl::string_view text, const std::string& file, MemoryMeter* meter) : scan_(text, file), meter_(meter) {}

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
    if (encoding != "ASCII" && encoding != "BINARY") return scan_.Error("the third line must be ASCII or BINARY");
    binary_ = encoding == "BINARY";
    if (absl::AsciiStrToUpper(scan_.Token()) != "DATASET") return scan_.Error("expected DATASET");
    dataset_ = absl::AsciiStrToUpper(scan_.Token());
    if (dataset_ != "UNSTRUCTURED_GRID" && dataset_ != "POLYDATA") {
      return scan_.Error("DATASET must be UNSTRUCTURED_GRID or POLYDATA");
    }
    return absl::OkStatus();
  }

  // Type name of an array that follows; its binary numbers begin on the next line.
  absl::Status BeginArray(absl::string_view type, int64_t count) {
    const std::optional<NumberKind> kind = KindOf(type);
    if (!binary_) return absl::OkStatus();  // text is parsed for what it says
    if (!kind) return scan_.Error("unknown number type of a binary array");
    kind_ = *kind;
    scan_.Line();
    return scan_.CheckRoom(count, SizeOf(kind_), "the number of entries");
  }

  absl::StatusOr<double> Real(absl::string_view what) {
    if (!binary_) return scan_.FiniteDouble(what);
    NumberReader bytes(scan_.Rest(), std::endian::big);
    const std::optional<double> value = bytes.Real(kind_);
    if (!value || !(*value - *value == 0)) return scan_.Error(absl::StrCat(what, " is missing or not finite"));
    scan_.SkipBytes(SizeOf(kind_));
    return *value;
  }

  absl::StatusOr<int64_t> Integer(absl::string_view what) {
    if (!binary_) return scan_.Integer(what);
    NumberReader bytes(scan_.Rest(), std::endian::big);
    const std::optional<int64_t> value = bytes.Integer(kind_);
    if (!value) return scan_.Error(absl::StrCat(what, " is missing; the file is cut short"));
    scan_.SkipBytes(SizeOf(kind_));
    return *value;
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
    return scan_.Error(absl::StrCat("unexpected ", Quoted(keyword), "; is a count above too small?"));
  }

  absl::Status ReadPoints() {
    if (!mesh_.vertices.empty()) return scan_.Error("a second POINTS section");
    EIPC_ASSIGN_OR_RETURN(const int64_t count, scan_.Count("the number of points", 6));
    if (count > kMaxMeshElements) return scan_.Error("too many points");
    EIPC_RETURN_IF_ERROR(BeginArray(scan_.Token(), 3 * count));
    for (int64_t i = 0; i < count; ++i) {
      Vec3 p;
      for (int k = 0; k < 3; ++k) {
        EIPC_ASSIGN_OR_RETURN(p[k], Real(binary_ ? "a coordinate" : absl::StrCat("coordinate of point ", i)));
      }
      EIPC_RETURN_IF_ERROR(Append(p, &mesh_.vertices, meter_));
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
    if (absl::AsciiStrToUpper(scan_.Token()) == "OFFSETS") return true;
    scan_ = before;
    return false;
  }

  absl::Status ReadIndex(CellArray* cells) {
    EIPC_ASSIGN_OR_RETURN(const int64_t index, Integer("a vertex index"));
    if (index < 0 || index >= static_cast<int64_t>(mesh_.vertices.size())) {
      return scan_.Error(absl::StrCat("vertex index ", index, " is out of range: there are ", mesh_.vertices.size(),
                                      " points (indices start at 0, and POINTS must come first)"));
    }
    return Append(static_cast<int32_t>(index), &cells->indices, meter_);
  }

  absl::Status ReadCountedCells(int64_t rows, int64_t size, CellArray* cells) {
    int64_t used = 0;
    EIPC_RETURN_IF_ERROR(BeginArray("int", size));
    for (int64_t c = 0; c < rows; ++c) {
      EIPC_ASSIGN_OR_RETURN(const int64_t n, Integer("the number of a cell's vertices"));
      EIPC_RETURN_IF_ERROR(scan_.CheckRoom(n, 1, "the number of a cell's vertices"));
      used += n + 1;
      if (used > size) return scan_.Error(absl::StrCat("cell ", c, " goes beyond the declared list size ", size));
      EIPC_RETURN_IF_ERROR(Append(scan_.line(), &cells->lines, meter_));
      for (int64_t k = 0; k < n; ++k) EIPC_RETURN_IF_ERROR(ReadIndex(cells));
      EIPC_RETURN_IF_ERROR(Append(static_cast<int64_t>(cells->indices.size()), &cells->offsets, meter_));
    }
    return absl::OkStatus();
  }

  absl::Status ReadOffsetCells(int64_t offset_count, int64_t index_count, CellArray* cells) {
    cells->offsets.clear();
    EIPC_RETURN_IF_ERROR(BeginArray(scan_.Token(), offset_count));
    for (int64_t c = 0; c < offset_count; ++c) {
      EIPC_ASSIGN_OR_RETURN(const int64_t offset, Integer("a cell offset"));
      const int64_t least = c == 0 ? 0 : cells->offsets.back();
      if (offset < least || offset > index_count || (c == 0 && offset != 0)) {
        return scan_.Error(absl::StrCat("cell offset ", offset, " must rise from 0 to at most ", index_count));
      }
      EIPC_RETURN_IF_ERROR(Append(offset, &cells->offsets, meter_));
    }
    if (cells->offsets.empty()) cells->offsets.push_back(0);
    if (absl::AsciiStrToUpper(scan_.Token()) != "CONNECTIVITY") return scan_.Error("expected CONNECTIVITY after the offsets");
    EIPC_RETURN_IF_ERROR(BeginArray(scan_.Token(), index_count));
    std::vector<int64_t> index_lines;
    for (int64_t i = 0; i < index_count; ++i) {
      EIPC_RETURN_IF_ERROR(ReadIndex(cells));
      EIPC_RETURN_IF_ERROR(Append(scan_.line(), &index_lines, meter_));
    }
    for (size_t c = 0; c + 1 < cells->offsets.size(); ++c) {
      const int64_t at = cells->offsets[c];
      EIPC_RETURN_IF_ERROR(Append(at < index_count ? index_lines[at] : scan_.line(), &cells->lines, meter_));
    }
    return absl::OkStatus();
  }

  absl::Status ReadCellTypes() {
    EIPC_ASSIGN_OR_RETURN(const int64_t count, scan_.Count("the number of cell types", 2));
    if (count != static_cast<int64_t>(cells_.count())) {
      return scan_.Error(absl::StrCat(count, " cell types for ", cells_.count(), " cells"));
    }
    EIPC_RETURN_IF_ERROR(BeginArray("int", count));
    for (int64_t c = 0; c < count; ++c) {
      EIPC_ASSIGN_OR_RETURN(const int64_t type, Integer("a cell type"));
      EIPC_RETURN_IF_ERROR(Append(type, &types_, meter_));
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
      const absl::string_view type = scan_.Token();
      if (components > 0 && tuples > 0) {
        EIPC_RETURN_IF_ERROR(scan_.CheckRoom(tuples, components, "the number of tuples"));
      }
      if (binary_) {
        EIPC_RETURN_IF_ERROR(BeginArray(type, components * tuples));
        scan_.SkipBytes(components * tuples * SizeOf(kind_));
        continue;
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
    if (!IsVtkCellOf(type, n)) {
      return scan_.ErrorAt(cells_.lines[c], absl::StrCat("cell ", c, " has VTK type ", type, " with ", n,
                                                         " vertices; only tetrahedra (10) and triangles (5) are read"));
    }
    return AddVtkCell(type, v, n, &mesh_, meter_);
  }

  TextScanner scan_;
  MemoryMeter* meter_;
  std::string dataset_;
  bool binary_ = false;
  NumberKind kind_ = NumberKind::kInt32;  // of the binary array that is being read
  MeshData mesh_;
  CellArray cells_;
  std::vector<int64_t> types_;
};

}  // namespace

absl::StatusOr<MeshData> ReadVtk(absl::string_view text, const std::string& file, MemoryMeter* meter) {
  return VtkReader(text, file, meter).Read();
}

}  // namespace eipc
