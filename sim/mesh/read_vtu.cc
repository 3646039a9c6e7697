#include <map>
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

// One XML tag: name (with a leading '/' when it closes), attributes, and where its text begins.
struct Tag {
  std::string name;
  std::map<std::string, std::string> attributes;
  size_t end = 0;
  std::string Get(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
  }
};

std::optional<NumberKind> KindOf(const std::string& name) {
  constexpr const char* kNames[] = {"Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float32", "Float64"};
  for (int k = 0; k < 10; ++k) {
    if (name == kNames[k]) return static_cast<NumberKind>(k);
  }
  return std::nullopt;
}

class VtuReader {
 public:
  VtuReader(absl::string_view text, const std::string& file) : text_(text), file_(file) {}

  absl::StatusOr<MeshData> Read() {
    EIPC_RETURN_IF_ERROR(ReadTags());
    if (!points_ || !connectivity_ || !offsets_ || !types_) {
      return Error("needs Points and the Cells arrays connectivity, offsets and types");
    }
    EIPC_ASSIGN_OR_RETURN(const std::vector<double> x, Values(*points_));
    if (x.size() % 3 != 0) return Error("Points must have three components");
    for (size_t i = 0; i < x.size(); i += 3) {
      mesh_.vertices.emplace_back(x[i], x[i + 1], x[i + 2]);
      if (!mesh_.vertices.back().allFinite()) return Error(absl::StrCat("point ", i / 3, " has a coordinate that is not finite"));
    }
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
    tag.name = std::string(CutToken(&body));
    if (!tag.name.empty() && tag.name.back() == '/' && tag.name.size() > 1) tag.name.pop_back();
    while (true) {
      const size_t equals = body.find('=');
      if (equals == absl::string_view::npos) return tag;
      const std::string key(absl::StripAsciiWhitespace(body.substr(0, equals)));
      body = absl::StripLeadingAsciiWhitespace(body.substr(equals + 1));
      if (body.empty() || (body[0] != '"' && body[0] != '\'')) return tag;
      const size_t close = body.find(body[0], 1);
      if (close == absl::string_view::npos) return tag;
      tag.attributes[key] = std::string(body.substr(1, close - 1));
      body = body.substr(close + 1);
    }
  }

  absl::Status ReadTags() {
    std::string parent;
    int pieces = 0;
    for (size_t at = 0;;) {
      EIPC_ASSIGN_OR_RETURN(const std::optional<Tag> tag, NextTag(at));
      if (!tag) break;
      at = tag->end;
      if (tag->name == "VTKFile") EIPC_RETURN_IF_ERROR(ReadFileTag(*tag));
      if (tag->name == "Piece" && ++pieces > 1) return Error("holds several pieces; save it as one");
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
      return Error(absl::StrCat("compressor ", compressor, " is not read; save with zlib or none"));
    return absl::OkStatus();
  }

  absl::Status ReadArrayTag(const Tag& tag, const std::string& parent) {
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
    if (!kind) return Error(absl::StrCat("array type '", tag.Get("type").substr(0, 40), "' is unknown"));
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

  absl::StatusOr<std::vector<double>> Values(const Array& array) const {
    std::vector<double> values;
    const absl::string_view text = text_.substr(array.text_begin, array.text_end - array.text_begin);
    if (array.format == "ascii") {
      TextScanner scan(text, file_);
      while (!scan.AtEnd()) {
        EIPC_ASSIGN_OR_RETURN(const double value, scan.FiniteDouble("an array entry"));
        values.push_back(value);
      }
      return values;
    }
    const bool appended = array.format == "appended";
    if (!appended && array.format != "binary") return Error("an array's format must be ascii, binary or appended");
    if (appended && array.offset > static_cast<int64_t>(appended_.size())) return Error("an array's offset lies beyond the file");
    const absl::string_view data = appended ? appended_.substr(static_cast<size_t>(array.offset)) : text;
    const absl::StatusOr<std::string> bytes = DecodeVtuArray(data, !appended || appended_base64_, encoding_);
    if (!bytes.ok()) return Error(bytes.status().message());
    ByteReader reader(*bytes, encoding_.order);
    while (reader.remaining() > 0) {
      const std::optional<double> value = reader.Real(array.kind);
      if (!value) return Error("an array ends inside an entry");
      values.push_back(*value);
    }
    return values;
  }

  absl::Status AddCells() {
    EIPC_ASSIGN_OR_RETURN(const std::vector<double> connectivity, Values(*connectivity_));
    EIPC_ASSIGN_OR_RETURN(const std::vector<double> offsets, Values(*offsets_));
    EIPC_ASSIGN_OR_RETURN(const std::vector<double> types, Values(*types_));
    if (types.size() != offsets.size()) return Error("as many cell types as offsets are needed");
    std::vector<int32_t> indices;
    for (const double index : connectivity) {
      if (!(index >= 0 && index < static_cast<double>(mesh_.vertices.size()))) {
        return Error(absl::StrCat("vertex index ", index, " is out of range: there are ", mesh_.vertices.size(), " points"));
      }
      indices.push_back(static_cast<int32_t>(index));
    }
    double begin = 0;
    for (size_t c = 0; c < offsets.size(); ++c) {
      const double end = offsets[c];
      if (!(end >= begin && end <= static_cast<double>(indices.size())))
        return Error(absl::StrCat("the offset of cell ", c, " is out of order"));
      const int64_t type = types[c] >= 0 && types[c] < 256 ? static_cast<int64_t>(types[c]) : -1;
      if (!AddVtkCell(type, indices.data() + static_cast<int64_t>(begin), static_cast<int64_t>(end - begin), &mesh_)) {
        return Error(absl::StrCat("cell ", c, " has VTK type ", type, "; only tetrahedra (10) and triangles (5) are read"));
      }
      begin = end;
    }
    return absl::OkStatus();
  }

  absl::string_view text_;
  std::string file_;
  bool is_vtu_ = false;
  VtuEncoding encoding_;
  std::optional<Array> points_, connectivity_, offsets_, types_;
  absl::string_view appended_;
  bool appended_base64_ = true;
  MeshData mesh_;
};

}  // namespace

absl::StatusOr<MeshData> ReadVtu(absl::string_view content, const std::string& file) { return VtuReader(content, file).Read(); }

}  // namespace eipc
