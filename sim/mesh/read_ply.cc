#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_readers.h"
#include "sim/mesh/number_reader.h"
#include "sim/mesh/text_scanner.h"

namespace eipc {
namespace {

struct Property {
  std::string name;
  NumberKind kind = NumberKind::kFloat32;
  std::optional<NumberKind> list_count;  // of the count in front of a list
};

struct Element {
  std::string name;
  int64_t count = 0;
  std::vector<Property> properties;
};

std::optional<NumberKind> KindOf(absl::string_view name) {
  constexpr std::pair<absl::string_view, NumberKind> kNames[] = {
      {"char", NumberKind::kInt8},      {"int8", NumberKind::kInt8},       {"uchar", NumberKind::kUint8},
      {"uint8", NumberKind::kUint8},    {"short", NumberKind::kInt16},     {"int16", NumberKind::kInt16},
      {"ushort", NumberKind::kUint16},  {"uint16", NumberKind::kUint16},   {"int", NumberKind::kInt32},
      {"int32", NumberKind::kInt32},    {"uint", NumberKind::kUint32},     {"uint32", NumberKind::kUint32},
      {"float", NumberKind::kFloat32},  {"float32", NumberKind::kFloat32}, {"double", NumberKind::kFloat64},
      {"float64", NumberKind::kFloat64}};
  for (const auto& [known, kind] : kNames) {
    if (name == known) return kind;
  }
  return std::nullopt;
}

class PlyReader {
 public:
  PlyReader(absl::string_view content, const std::string& file, MemoryMeter* meter)
      : content_(content), file_(file), scan_(content, file), bytes_(""), meter_(meter) {}

  absl::StatusOr<MeshData> Read() {
    EIPC_RETURN_IF_ERROR(ReadHeader());
    for (const Element& element : elements_) {
      EIPC_RETURN_IF_ERROR(ReadElement(element));
    }
    EIPC_RETURN_IF_ERROR(AddFaces());
    return std::move(mesh_);
  }

 private:
  absl::Status ReadHeader() {
    if (CutWord() != "ply") return scan_.Error("not a PLY file: it must start with 'ply'");
    bool has_format = false;
    while (true) {
      if (scan_.AtEndOfText()) return scan_.Error("the header has no end_header; the file is cut short");
      line_ = scan_.Line();
      const absl::string_view keyword = CutToken(&line_);
      if (keyword == "end_header") break;
      if (keyword == "format") {
        EIPC_RETURN_IF_ERROR(ReadFormat());
        has_format = true;
      } else if (keyword == "element") {
        EIPC_RETURN_IF_ERROR(Append(Element(), &elements_, meter_));
        Element& element = elements_.back();
        element.name = std::string(CutToken(&line_));
        if (!ParseInteger(CutToken(&line_), &element.count) || element.count < 0 || element.count > kMaxMeshElements) {
          return scan_.Error("an element needs a name and a count from 0 to 2e9");
        }
      } else if (keyword == "property") {
        EIPC_RETURN_IF_ERROR(ReadProperty());
      } else if (!keyword.empty() && keyword != "comment" && keyword != "obj_info") {
        return scan_.Error("not a line of a PLY header");
      }
    }
    if (!has_format) return scan_.Error("the header has no format");
    bytes_ = NumberReader(scan_.Rest(), order_);
    return absl::OkStatus();
  }

  absl::string_view CutWord() {
    line_ = scan_.Line();
    return CutToken(&line_);
  }

  absl::Status ReadFormat() {
    const absl::string_view format = CutToken(&line_);
    ascii_ = format == "ascii";
    order_ = format == "binary_big_endian" ? std::endian::big : std::endian::little;
    if (!ascii_ && format != "binary_little_endian" && format != "binary_big_endian") {
      return scan_.Error("the format must be ascii, binary_little_endian or binary_big_endian");
    }
    return absl::OkStatus();
  }

  absl::Status ReadProperty() {
    if (elements_.empty()) return scan_.Error("a property before any element");
    Property property;
    absl::string_view type = CutToken(&line_);
    if (type == "list") {
      property.list_count = KindOf(CutToken(&line_));
      if (!property.list_count || IsReal(*property.list_count)) return scan_.Error("a list needs an integer type for its count");
      type = CutToken(&line_);
    }
    const std::optional<NumberKind> kind = KindOf(type);
    if (!kind) return scan_.Error("unknown property type");
    property.kind = *kind;
    property.name = std::string(CutToken(&line_));
    return Append(std::move(property), &elements_.back().properties, meter_);
  }

  absl::Status Short(const Element& element) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": the file ends inside its ", element.count, " elements ", Quoted(element.name), "; it is cut short"));
  }

  // Every element takes room, so that a huge count is refused before anything is allocated.
  absl::Status CheckRoom(const Element& element) const {
    if (ascii_)
      return scan_.CheckRoom(element.count, 2 * static_cast<int64_t>(element.properties.size()), "the number of elements");
    int64_t least = 0;
    for (const Property& p : element.properties) least += SizeOf(p.list_count ? *p.list_count : p.kind);
    return bytes_.HasRoom(element.count, least) ? absl::OkStatus() : Short(element);
  }

  absl::StatusOr<double> Value(const Element& element, NumberKind kind) {
    if (ascii_) {
      double value = 0;
      const absl::string_view token = scan_.Token();
      if (!ParseFiniteDouble(token, &value)) {
        // Colours and other attributes may be anything; positions are checked where they are used.
        if (absl::StartsWithIgnoreCase(token, "nan") || absl::StrContains(token, "inf")) return std::nan("");
        return scan_.Error(token.empty() ? "the file is cut short" : "expected a number");
      }
      return value;
    }
    const std::optional<double> value = bytes_.Real(kind);
    if (!value) return Short(element);
    return *value;
  }

  absl::Status ReadElement(const Element& element) {
    if (element.properties.empty() || element.count == 0) return absl::OkStatus();
    EIPC_RETURN_IF_ERROR(CheckRoom(element));
    const bool vertices = element.name == "vertex", faces = element.name == "face";
    if (element.name == "tristrips")
      return absl::InvalidArgumentError(absl::StrCat(file_, ": triangle strips are not read; save as faces"));
    std::vector<double> list;
    for (int64_t i = 0; i < element.count; ++i) {
      Vec3 p = Vec3::Zero();
      for (const Property& property : element.properties) {
        if (!property.list_count) {
          EIPC_ASSIGN_OR_RETURN(const double value, Value(element, property.kind));
          if (property.name == "x") p[0] = value;
          if (property.name == "y") p[1] = value;
          if (property.name == "z") p[2] = value;
          continue;
        }
        EIPC_RETURN_IF_ERROR(ReadList(element, property, &list));
        if (faces && (property.name == "vertex_indices" || property.name == "vertex_index")) {
          EIPC_RETURN_IF_ERROR(KeepPolygon(list));
        }
      }
      if (!vertices) continue;
      if (!p.allFinite())
        return absl::InvalidArgumentError(absl::StrCat(file_, ": vertex ", i, " has a coordinate that is not finite"));
      EIPC_RETURN_IF_ERROR(Append(p, &mesh_.vertices, meter_));
    }
    return absl::OkStatus();
  }

  absl::Status ReadList(const Element& element, const Property& property, std::vector<double>* list) {
    EIPC_ASSIGN_OR_RETURN(const double count, Value(element, *property.list_count));
    const bool fits =
        ascii_ ? count <= static_cast<double>(content_.size()) : bytes_.HasRoom(static_cast<int64_t>(count), SizeOf(property.kind));
    if (!(count >= 0) || !fits) return Short(element);
    list->clear();
    for (int64_t k = 0; k < static_cast<int64_t>(count); ++k) {
      EIPC_ASSIGN_OR_RETURN(const double value, Value(element, property.kind));
      EIPC_RETURN_IF_ERROR(Append(value, list, meter_));
    }
    return absl::OkStatus();
  }

  absl::Status KeepPolygon(const std::vector<double>& corners) {
    for (size_t k = 1; k + 1 < corners.size(); ++k) {
      for (const size_t corner : {size_t{0}, k, k + 1}) EIPC_RETURN_IF_ERROR(Append(corners[corner], &corners_, meter_));
    }
    return absl::OkStatus();
  }

  // Faces may come before their vertices, so indices are checked last.
  absl::Status AddFaces() {
    for (size_t i = 0; i < corners_.size(); i += 3) {
      Triangle triangle;
      for (int k = 0; k < 3; ++k) {
        const double index = corners_[i + k];
        if (!(index >= 0 && index < static_cast<double>(mesh_.vertices.size()))) {
          return absl::InvalidArgumentError(
              absl::StrCat(file_, ": vertex index ", index, " is out of range: there are ", mesh_.vertices.size(), " vertices"));
        }
        triangle[k] = static_cast<int32_t>(index);
      }
      EIPC_RETURN_IF_ERROR(Append(triangle, &mesh_.triangles, meter_));
    }
    return absl::OkStatus();
  }

  absl::string_view content_;
  std::string file_;
  TextScanner scan_;
  absl::string_view line_;
  bool ascii_ = true;
  std::endian order_ = std::endian::little;
  NumberReader bytes_;
  MemoryMeter* meter_;
  std::vector<Element> elements_;
  std::vector<double> corners_;
  MeshData mesh_;
};

}  // namespace

absl::StatusOr<MeshData> ReadPly(absl::string_view content, const std::string& file, MemoryMeter* meter) {
  return PlyReader(content, file, meter).Read();
}

}  // namespace eipc
