#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_readers.h"
#include "sim/mesh/number_reader.h"
#include "sim/mesh/text_scanner.h"

namespace eipc {
namespace {

// Nodes of each Gmsh element type; 0: not one we know. A file must say nothing that we cannot step over.
int NodesOf(int64_t type) {
  constexpr int kNodes[] = {0, 2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1,
                            8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
  return type >= 1 && type < 32 ? kNodes[type] : 0;
}

constexpr bool IsTriangle(int64_t type) { return type == 2 || type == 9; }
constexpr bool IsQuad(int64_t type) { return type == 3 || type == 10 || type == 16; }
constexpr bool IsTet(int64_t type) { return type == 4 || type == 11; }

class MshReader {
 public:
  MshReader(absl::string_view content, const std::string& file, MemoryMeter* meter) : scan_(content, file), meter_(meter) {}

  absl::StatusOr<MeshData> Read() {
    EIPC_RETURN_IF_ERROR(ReadFormat());
    while (!scan_.AtEnd()) {
      const absl::string_view section = CutLine();
      if (section == "$Nodes") {
        EIPC_RETURN_IF_ERROR(is_4_ ? ReadNodes4() : ReadNodes2());
      } else if (section == "$Elements") {
        EIPC_RETURN_IF_ERROR(is_4_ ? ReadElements4() : ReadElements2());
      } else if (absl::StartsWith(section, "$")) {
        if (!SkipTo(absl::StrCat("$End", section.substr(1)))) return scan_.Error("a section does not end; the file is cut short");
      } else {
        return scan_.Error("expected a section ($Nodes, $Elements)");
      }
    }
    return std::move(mesh_);
  }

 private:
  absl::string_view CutLine() {
    absl::string_view line = scan_.Line();
    return CutToken(&line);
  }

  // Binary content may hold anything but the end mark.
  bool SkipTo(const std::string& mark) {
    const size_t at = scan_.Rest().find(mark);
    if (at == absl::string_view::npos) return false;
    scan_.SkipBytes(static_cast<int64_t>(at + mark.size()));
    scan_.Line();
    return true;
  }

  absl::Status ReadFormat() {
    while (!scan_.AtEndOfText()) {
      if (CutLine() == "$MeshFormat") break;
    }
    double version = 0;
    int64_t binary = 0;
    absl::string_view line = scan_.Line();
    if (!ParseFiniteDouble(CutToken(&line), &version) || !ParseInteger(CutToken(&line), &binary) ||
        !ParseInteger(CutToken(&line), &data_size_)) {
      return scan_.Error("not a Gmsh MSH file: $MeshFormat must give version, file type and data size");
    }
    binary_ = binary == 1;
    is_4_ = version >= 4 && version < 5;
    is_40_ = is_4_ && version < 4.05;
    if (!is_4_ && !(version >= 2 && version < 3)) return scan_.Error("only versions 2 and 4 are read; save the mesh as MSH 4.1");
    if (is_40_ && binary_) return scan_.Error("binary files of version 4.0 are not read; save the mesh as MSH 4.1");
    if (data_size_ != 8 && (binary_ || data_size_ != 4)) return scan_.Error("the data size must be 8");
    if (binary_) {
      EIPC_ASSIGN_OR_RETURN(const int64_t one, Number(NumberKind::kInt32));
      if (one != 1) {
        if (one != 1 << 24) return scan_.Error("the mark of byte order is neither");
        order_ = std::endian::big;
      }
    }
    return SkipTo("$EndMeshFormat") ? absl::OkStatus() : scan_.Error("$MeshFormat does not end");
  }

  absl::StatusOr<int64_t> Number(NumberKind kind) {
    if (!binary_) return scan_.Integer("an entry");
    NumberReader bytes(scan_.Rest(), order_);
    const std::optional<int64_t> value = bytes.Integer(kind);
    if (!value) return scan_.Error("the file is cut short or damaged");
    scan_.SkipBytes(SizeOf(kind));
    return *value;
  }
  absl::StatusOr<int64_t> Int() { return Number(NumberKind::kInt32); }
  absl::StatusOr<int64_t> Size() { return Number(NumberKind::kUint64); }
  absl::StatusOr<double> Real() {
    if (!binary_) return scan_.FiniteDouble("a coordinate");
    NumberReader bytes(scan_.Rest(), order_);
    const std::optional<double> value = bytes.Real(NumberKind::kFloat64);
    if (!value) return scan_.Error("the file is cut short");
    if (!(*value - *value == 0)) return scan_.Error("a coordinate is not finite");
    scan_.SkipBytes(8);
    return *value;
  }
  absl::Status Room(int64_t count, int64_t ascii_bytes, int64_t binary_bytes, absl::string_view what) const {
    if (count > kMaxMeshElements) return scan_.Error(absl::StrCat(what, " is too large"));
    return scan_.CheckRoom(count, binary_ ? binary_bytes : ascii_bytes, what);
  }

  absl::StatusOr<Vec3> Point() {
    Vec3 p;
    for (int k = 0; k < 3; ++k) {
      EIPC_ASSIGN_OR_RETURN(p[k], Real());
    }
    return p;
  }

  absl::Status AddNode(int64_t tag, const Vec3& p) {
    // Of an entry of the map, which is at least 7/16 full.
    constexpr size_t kIndexBytes = 3 * sizeof(std::pair<const int64_t, int32_t>);
    const int32_t index = static_cast<int32_t>(mesh_.vertices.size());
    EIPC_RETURN_IF_ERROR(Append(p, &mesh_.vertices, meter_, kIndexBytes));
    if (!index_.try_emplace(tag, index).second) return scan_.Error(absl::StrCat("node ", tag, " is given twice"));
    return absl::OkStatus();
  }

  absl::Status ReadNodes2() {
    EIPC_ASSIGN_OR_RETURN(const int64_t count, scan_.Integer("the number of nodes"));
    EIPC_RETURN_IF_ERROR(Room(count, 8, 28, "the number of nodes"));
    scan_.Line();
    for (int64_t i = 0; i < count; ++i) {
      EIPC_ASSIGN_OR_RETURN(const int64_t tag, Int());
      EIPC_ASSIGN_OR_RETURN(const Vec3 p, Point());
      EIPC_RETURN_IF_ERROR(AddNode(tag, p));
    }
    return SkipTo("$EndNodes") ? absl::OkStatus() : scan_.Error("$Nodes does not end");
  }

  absl::Status ReadNodes4() {
    EIPC_ASSIGN_OR_RETURN(const int64_t blocks, Size());
    EIPC_RETURN_IF_ERROR(Room(blocks, 8, 20, "the number of node blocks"));
    EIPC_RETURN_IF_ERROR(SkipNumbers(is_40_ ? 1 : 3));
    std::vector<int64_t> tags;
    for (int64_t b = 0; b < blocks; ++b) {
      EIPC_ASSIGN_OR_RETURN(const int64_t first, Int());
      EIPC_ASSIGN_OR_RETURN(const int64_t second, Int());
      EIPC_ASSIGN_OR_RETURN(const int64_t parametric, Int());
      EIPC_ASSIGN_OR_RETURN(const int64_t count, Size());
      EIPC_RETURN_IF_ERROR(Room(count, 8, 32, "the number of nodes"));
      const int64_t dimension = is_40_ ? second : first;
      if (dimension < 0 || dimension > 3) return scan_.Error("an entity's dimension must be 0 to 3");
      tags.clear();
      for (int64_t i = 0; i < count && !is_40_; ++i) {
        EIPC_ASSIGN_OR_RETURN(const int64_t tag, Size());
        EIPC_RETURN_IF_ERROR(Append(tag, &tags, meter_));
      }
      for (int64_t i = 0; i < count; ++i) {
        if (is_40_) {
          EIPC_ASSIGN_OR_RETURN(const int64_t tag, Int());
          EIPC_RETURN_IF_ERROR(Append(tag, &tags, meter_));
        }
        EIPC_ASSIGN_OR_RETURN(const Vec3 p, Point());
        for (int64_t k = 0; parametric != 0 && k < dimension; ++k) EIPC_RETURN_IF_ERROR(Real().status());
        EIPC_RETURN_IF_ERROR(AddNode(tags[i], p));
      }
    }
    return SkipTo("$EndNodes") ? absl::OkStatus() : scan_.Error("$Nodes does not end");
  }

  absl::Status SkipNumbers(int count) {
    for (int k = 0; k < count; ++k) EIPC_RETURN_IF_ERROR(Size().status());
    return absl::OkStatus();
  }

  absl::Status ReadElements2() {
    EIPC_ASSIGN_OR_RETURN(const int64_t count, scan_.Integer("the number of elements"));
    EIPC_RETURN_IF_ERROR(Room(count, 6, 8, "the number of elements"));
    scan_.Line();
    for (int64_t done = 0; done < count;) {
      // ASCII: number, type, tags; binary: type, how many of it, tags, then each with its number in front.
      int64_t in_block = 1;
      if (!binary_) EIPC_RETURN_IF_ERROR(Int().status());
      EIPC_ASSIGN_OR_RETURN(const int64_t type, Int());
      if (binary_) {
        EIPC_ASSIGN_OR_RETURN(in_block, Int());
      }
      EIPC_ASSIGN_OR_RETURN(const int64_t tags, Int());
      if (in_block < 1 || in_block > count - done) return scan_.Error("a block of elements goes beyond their number");
      EIPC_RETURN_IF_ERROR(Room(tags, 2, 4, "the number of tags"));
      for (int64_t i = 0; i < in_block; ++i, ++done) {
        if (binary_) EIPC_RETURN_IF_ERROR(Int().status());
        for (int64_t k = 0; k < tags; ++k) EIPC_RETURN_IF_ERROR(Int().status());
        EIPC_RETURN_IF_ERROR(ReadElement(type, NumberKind::kInt32));
      }
    }
    return SkipTo("$EndElements") ? absl::OkStatus() : scan_.Error("$Elements does not end");
  }

  absl::Status ReadElements4() {
    EIPC_ASSIGN_OR_RETURN(const int64_t blocks, Size());
    EIPC_RETURN_IF_ERROR(Room(blocks, 8, 20, "the number of element blocks"));
    EIPC_RETURN_IF_ERROR(SkipNumbers(is_40_ ? 1 : 3));
    for (int64_t b = 0; b < blocks; ++b) {
      EIPC_RETURN_IF_ERROR(Int().status());
      EIPC_RETURN_IF_ERROR(Int().status());
      EIPC_ASSIGN_OR_RETURN(const int64_t type, Int());
      EIPC_ASSIGN_OR_RETURN(const int64_t count, Size());
      EIPC_RETURN_IF_ERROR(Room(count, 4, 16, "the number of elements"));
      for (int64_t i = 0; i < count; ++i) {
        EIPC_RETURN_IF_ERROR(Size().status());
        EIPC_RETURN_IF_ERROR(ReadElement(type, NumberKind::kUint64));
      }
    }
    return SkipTo("$EndElements") ? absl::OkStatus() : scan_.Error("$Elements does not end");
  }

  absl::Status ReadElement(int64_t type, NumberKind kind) {
    const int nodes = NodesOf(type);
    if (nodes == 0) return scan_.Error(absl::StrCat("unknown element type ", type));
    std::array<int32_t, 4> corner = {0, 0, 0, 0};
    const int corners = IsTet(type) || IsQuad(type) ? 4 : IsTriangle(type) ? 3 : 0;
    for (int k = 0; k < nodes; ++k) {
      EIPC_ASSIGN_OR_RETURN(const int64_t tag, Number(kind));
      if (k >= corners) continue;
      const auto found = index_.find(tag);
      if (found == index_.end()) return scan_.Error(absl::StrCat("node ", tag, " is not among the nodes ($Nodes must come first)"));
      corner[k] = found->second;
    }
    if (IsTet(type)) return Append<Tet>(corner, &mesh_.tets, meter_);
    if (IsTriangle(type) || IsQuad(type)) {
      EIPC_RETURN_IF_ERROR(Append<Triangle>({corner[0], corner[1], corner[2]}, &mesh_.triangles, meter_));
    }
    if (IsQuad(type)) return Append<Triangle>({corner[0], corner[2], corner[3]}, &mesh_.triangles, meter_);
    return absl::OkStatus();
  }

  TextScanner scan_;
  MemoryMeter* meter_;
  bool binary_ = false, is_4_ = false, is_40_ = false;
  int64_t data_size_ = 8;
  std::endian order_ = std::endian::little;
  MeshData mesh_;
  absl::flat_hash_map<int64_t, int32_t> index_;
};

}  // namespace

absl::StatusOr<MeshData> ReadMsh(absl::string_view content, const std::string& file, MemoryMeter* meter) {
  return MshReader(content, file, meter).Read();
}

}  // namespace eipc
