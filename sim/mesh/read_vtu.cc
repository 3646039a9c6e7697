#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_readers.h"
#include "sim/mesh/text_scanner.h"
#include "sim/mesh/vtk_cells.h"
#include "sim/mesh/vtu_array.h"

namespace eipc {
namespace {

// One XML tag: name (with a leading '/' when it closes), its attributes as they stand there, and where its text begins.
struct Tag {
  absl::string_view name;
  absl::string_view attributes;
  size_t end = 0;

  // The last attribute of this name; empty when there is none.
  std::string Get(absl::string_view key) const {
    std::string value;
    absl::string_view body = attributes;
    while (true) {
      const size_t equals = body.find('=');
      if (equals == absl::string_view::npos) return value;
      const absl::string_view found = absl::StripAsciiWhitespace(body.substr(0, equals));
      body = absl::StripLeadingAsciiWhitespace(body.substr(equals + 1));
      if (body.empty() || (body[0] != '"' && body[0] != '\'')) return value;
      const size_t close = body.find(body[0], 1);
      if (close == absl::string_view::npos) return value;
      if (found == key) value = std::string(body.substr(1, close - 1));
      body = body.substr(close + 1);
    }
  }
};

std::optional<NumberKind> KindOf(absl::string_view name) {
  constexpr const char* kNames[] = {"Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float32", "Float64"};
  for (int k = 0; k < 10; ++k) {
    if (name == kNames[k]) return static_cast<NumberKind>(k);
  }
  return std::nullopt;
}

class VtuReader {
 public:
  VtuReader(absl::string_view text, const std::string& file, MemoryMeter* meter) : text_(text), file_(file), meter_(meter) {}

  absl::StatusOr<MeshData> Read() {
    EIPC_RETURN_IF_ERROR(ReadTags());
    if (!points_ || !connectivity_ || !offsets_ || !types_) {
      return Error("needs Points and the Cells arrays connectivity, offsets and types");
    }
    EIPC_RETURN_IF_ERROR(ReadPoints());
    EIPC_RETURN_IF_ERROR(ReadTypes());
    EIPC_RETURN_IF_ERROR(ReadOffsets());
    EIPC_RETURN_IF_ERROR(ReadConnectivity());
    EIPC_RETURN_IF_ERROR(AddCells());
    return std::move(mesh_);
  }

 private:
  struct Array {
    NumberKind kind = NumberKind::kFloat64;
    std::string format;
    size_t text_begin = 0, text_end = 0;
    int64_t offset = 0;
  };

  absl::Status Error(absl::string_view message) const { return absl::InvalidArgumentError(absl::StrCat(file_, ": ", message)); }

  // The next tag at or after `at`; none at the end.
  absl::StatusOr<std::optional<Tag>> NextTag(size_t at) const {
    while (true) {
      const size_t begin = text_.find('<', at);
      if (begin == absl::string_view::npos) return std::optional<Tag>();
      if (text_.substr(begin, 4) == "<!--") {
        at = text_.find("-->", begin);
        if (at == absl::string_view::npos) return Error("an XML comment does not end");
        continue;
      }
      const size_t end = text_.find('>', begin);
      if (end == absl::string_view::npos) return Error("an XML tag does not end; the file is cut short");
      if (text_[begin + 1] == '?' || text_[begin + 1] == '!') {
        at = end;
        continue;
      }
      return std::optional<Tag>(ParseTag(text_.substr(begin + 1, end - begin - 1), end + 1));
    }
  }

  static Tag ParseTag(absl::string_view body, size_t end) {
    Tag tag;
    tag.end = end;
    tag.name = CutToken(&body);
    if (tag.name.size() > 1 && tag.name.back() == '/') tag.name.remove_suffix(1);
    tag.attributes = body;
    return tag;
  }

  absl::Status ReadTags() {
    absl::string_view parent;
    int pieces = 0;
    for (size_t at = 0;;) {
      EIPC_ASSIGN_OR_RETURN(const std::optional<Tag> tag, NextTag(at));
      if (!tag) break;
      at = tag->end;
      if (tag->name == "VTKFile") EIPC_RETURN_IF_ERROR(ReadFileTag(*tag));
      if (tag->name == "Piece") {
        if (++pieces > 1) return Error("holds several pieces; save it as one");
        EIPC_RETURN_IF_ERROR(ReadPieceTag(*tag));
      }
      if (tag->name == "Points" || tag->name == "Cells" || tag->name == "PointData" || tag->name == "CellData") parent = tag->name;
      if (absl::StartsWith(tag->name, "/")) parent = tag->name == "/DataArray" ? parent : "";
      if (tag->name == "DataArray") {
        EIPC_RETURN_IF_ERROR(ReadArrayTag(*tag, parent));
      }
      if (tag->name == "AppendedData") {
        const size_t mark = text_.find('_', at);
        if (mark == absl::string_view::npos) return Error("its appended data does not begin with '_'");
        appended_ = text_.substr(mark + 1);
        appended_base64_ = tag->Get("encoding") != "raw";
        break;  // what follows may be raw bytes
      }
    }
    return is_vtu_ ? absl::OkStatus() : Error("not a VTK XML file of an UnstructuredGrid");
  }

  absl::Status ReadFileTag(const Tag& tag) {
    if (tag.Get("type") != "UnstructuredGrid") return Error("the VTK XML file must hold an UnstructuredGrid");
    is_vtu_ = true;
    encoding_.order = tag.Get("byte_order") == "BigEndian" ? std::endian::big : std::endian::little;
    encoding_.header = tag.Get("header_type") == "UInt64" ? NumberKind::kUint64 : NumberKind::kUint32;
    const std::string compressor = tag.Get("compressor");
    encoding_.zlib = compressor == "vtkZLibDataCompressor";
    if (!compressor.empty() && !encoding_.zlib)
      return Error(absl::StrCat("compressor ", Quoted(compressor), " is not read; save with zlib or none"));
    return absl::OkStatus();
  }

  // How many points and cells there are, where the file says so.
  absl::Status ReadPieceTag(const Tag& tag) {
    for (const auto& [name, count] : {std::pair("NumberOfPoints", &point_count_), std::pair("NumberOfCells", &cell_count_)}) {
      const std::string text = tag.Get(name);
      int64_t value = 0;
      if (text.empty()) continue;
      if (!ParseInteger(text, &value) || value < 0 || value > kMaxMeshElements) {
        return Error(absl::StrCat(name, " must be a number from 0 to 2e9, got ", Quoted(text)));
      }
      *count = value;
    }
    return absl::OkStatus();
  }

  absl::Status ReadArrayTag(const Tag& tag, absl::string_view parent) {
    std::optional<Array>* target = nullptr;
    const std::string name = tag.Get("Name");
    if (parent == "Points") target = &points_;
    if (parent == "Cells" && name == "connectivity") target = &connectivity_;
    if (parent == "Cells" && name == "offsets") target = &offsets_;
    if (parent == "Cells" && name == "types") target = &types_;
    if (target == nullptr) return absl::OkStatus();
    if (target->has_value()) return Error("holds several pieces or an array twice");
    Array array;
    const std::optional<NumberKind> kind = KindOf(tag.Get("type"));
    if (!kind) return Error(absl::StrCat("array type ", Quoted(tag.Get("type")), " is unknown"));
    array.kind = *kind;
    array.format = tag.Get("format").empty() ? "ascii" : tag.Get("format");
    array.text_begin = tag.end;
    array.text_end = std::min(text_.find('<', tag.end), text_.size());
    if (array.format == "appended" && (!ParseInteger(tag.Get("offset"), &array.offset) || array.offset < 0)) {
      return Error("an appended array needs an offset");
    }
    *target = array;
    return absl::OkStatus();
  }

  using Take = std::function<absl::Status(double value)>;

  // Hands the entries of an array to `take`, one by one; more than `most` are refused.
  absl::Status ForEachEntry(const Array& array, int64_t most, const char* name, const Take& take) const {
    int64_t count = 0;
    const Take counted = [&](double value) -> absl::Status {
      if (++count > most)
        return Error(absl::StrCat("the array ", name, " has more entries than the ", most, " that the piece declares"));
      return take(value);
    };
    const absl::string_view text = text_.substr(array.text_begin, array.text_end - array.text_begin);
    if (array.format != "ascii") return ForEachBinaryEntry(array, text, most, counted);
    TextScanner scan(text, file_);
    while (!scan.AtEnd()) {
      EIPC_ASSIGN_OR_RETURN(const double value, scan.FiniteDouble("an array entry"));
      EIPC_RETURN_IF_ERROR(counted(value));
    }
    return absl::OkStatus();
  }

  absl::Status ForEachBinaryEntry(const Array& array, absl::string_view text, int64_t most, const Take& take) const {
    const bool appended = array.format == "appended";
    if (!appended && array.format != "binary") return Error("an array's format must be ascii, binary or appended");
    if (appended && array.offset > static_cast<int64_t>(appended_.size())) return Error("an array's offset lies beyond the file");
    const absl::string_view data = appended ? appended_.substr(static_cast<size_t>(array.offset)) : text;
    const size_t width = static_cast<size_t>(SizeOf(array.kind));
    absl::Status status;
    std::string entry;  // the beginning of one that a piece cuts
    const auto take_piece = [&](absl::string_view piece) {
      if (!entry.empty()) {
        const size_t rest = std::min(width - entry.size(), piece.size());
        entry.append(piece.data(), rest);
        piece.remove_prefix(rest);
        if (entry.size() == width) status = take(*NumberReader(std::exchange(entry, {}), encoding_.order).Real(array.kind));
      }
      NumberReader reader(piece, encoding_.order);
      while (status.ok() && reader.remaining() >= static_cast<int64_t>(width)) status = take(*reader.Real(array.kind));
      if (status.ok()) entry.append(reader.rest().data(), reader.rest().size());
      return status.ok();
    };
    const int64_t most_bytes = std::min(most, kMaxArrayBytes / static_cast<int64_t>(width)) * static_cast<int64_t>(width);
    const absl::Status decoded = DecodeVtuArray(data, !appended || appended_base64_, encoding_, most_bytes, take_piece);
    EIPC_RETURN_IF_ERROR(status);
    if (!decoded.ok()) return Error(decoded.message());
    return entry.empty() ? absl::OkStatus() : Error("an array ends inside an entry");
  }

  absl::Status ReadPoints() {
    Vec3 point;
    int filled = 0;
    const auto take = [&](double value) -> absl::Status {
      point[filled++] = value;
      if (filled < 3) return absl::OkStatus();
      filled = 0;
      if (!point.allFinite()) {
        return Error(absl::StrCat("point ", mesh_.vertices.size(), " has a coordinate that is not finite"));
      }
      return Append(point, &mesh_.vertices, meter_);
    };
    EIPC_RETURN_IF_ERROR(ForEachEntry(*points_, 3 * point_count_.value_or(kMaxMeshElements), "Points", take));
    if (filled != 0) return Error("Points must have three components");
    return CheckCount("Points", point_count_, mesh_.vertices.size());
  }

  absl::Status CheckCount(const char* name, std::optional<int64_t> declared, size_t count) const {
    if (!declared || *declared == static_cast<int64_t>(count)) return absl::OkStatus();
    return Error(absl::StrCat("the array ", name, " has ", count, " entries; the piece declares ", *declared));
  }

  // First of the arrays of cells: a cell that is not read ends the work before anything is held of it.
  absl::Status ReadTypes() {
    const auto take = [&](double value) -> absl::Status {
      const int64_t type = value >= 0 && value < 256 ? static_cast<int64_t>(value) : -1;
      if (!IsVtkCell(type)) return WrongCell(cell_types_.size(), type);
      return Append(static_cast<uint8_t>(type), &cell_types_, meter_);
    };
    EIPC_RETURN_IF_ERROR(ForEachEntry(*types_, cell_count_.value_or(kMaxMeshElements), "types", take));
    return CheckCount("types", cell_count_, cell_types_.size());
  }

  absl::Status WrongCell(size_t cell, int64_t type) const {
    return Error(absl::StrCat("cell ", cell, " has VTK type ", type, "; only tetrahedra (10) and triangles (5) are read"));
  }

  absl::Status ReadOffsets() {
    const auto take = [&](double value) -> absl::Status {
      const size_t cell = cell_ends_.size();
      const double begin = cell == 0 ? 0 : cell_ends_.back();
      if (cell == cell_types_.size()) return Error("as many cell types as offsets are needed");
      if (!(value >= begin && value <= static_cast<double>(kMaxMeshElements))) {
        return Error(absl::StrCat("the offset of cell ", cell, " is out of order"));
      }
      if (!IsVtkCellOf(cell_types_[cell], static_cast<int64_t>(value) - static_cast<int64_t>(begin))) {
        return WrongCell(cell, cell_types_[cell]);
      }
      return Append(static_cast<int32_t>(value), &cell_ends_, meter_);
    };
    EIPC_RETURN_IF_ERROR(ForEachEntry(*offsets_, cell_count_.value_or(kMaxMeshElements), "offsets", take));
    return cell_ends_.size() == cell_types_.size() ? absl::OkStatus() : Error("as many cell types as offsets are needed");
  }

  // Entries that belong to no cell are checked like the others, and not kept.
  absl::Status ReadConnectivity() {
    const size_t wanted = cell_ends_.empty() ? 0 : static_cast<size_t>(cell_ends_.back());
    const auto take = [&](double index) -> absl::Status {
      if (!(index >= 0 && index < static_cast<double>(mesh_.vertices.size()))) {
        return Error(absl::StrCat("vertex index ", index, " is out of range: there are ", mesh_.vertices.size(), " points"));
      }
      if (indices_.size() == wanted) return absl::OkStatus();
      return Append(static_cast<int32_t>(index), &indices_, meter_);
    };
    EIPC_RETURN_IF_ERROR(ForEachEntry(*connectivity_, kMaxMeshElements, "connectivity", take));
    if (indices_.size() == wanted) return absl::OkStatus();
    return Error(absl::StrCat("the offset of the last cell is out of order: connectivity has ", indices_.size(), " entries"));
  }

  absl::Status AddCells() {
    int32_t begin = 0;
    for (size_t c = 0; c < cell_ends_.size(); ++c) {
      EIPC_RETURN_IF_ERROR(AddVtkCell(cell_types_[c], indices_.data() + begin, cell_ends_[c] - begin, &mesh_, meter_));
      begin = cell_ends_[c];
    }
    return absl::OkStatus();
  }

  // Of one array as its encoding holds it.
  static constexpr int64_t kMaxArrayBytes = int64_t{1} << 28;

  absl::string_view text_;
  std::string file_;
  MemoryMeter* meter_;
  bool is_vtu_ = false;
  std::optional<int64_t> point_count_, cell_count_;  // as the piece declares them
  VtuEncoding encoding_;
  std::optional<Array> points_, connectivity_, offsets_, types_;
  absl::string_view appended_;
  bool appended_base64_ = true;
  std::vector<uint8_t> cell_types_;
  std::vector<int32_t> cell_ends_;  // in indices_
  std::vector<int32_t> indices_;
  MeshData mesh_;
};

}  // namespace

absl::StatusOr<MeshData> ReadVtu(absl::string_view content, const std::string& file, MemoryMeter* meter) {
  return VtuReader(content, file, meter).Read();
}

}  // namespace eipc
