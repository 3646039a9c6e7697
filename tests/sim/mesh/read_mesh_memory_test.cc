// What readers hold: it grows with what they have read and is asked of their meter before, whatever the file declares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "sim/base/memory_meter.h"
#include "sim/base/utf8.h"
#include "sim/mesh/read_mesh.h"
#include "tests/support/allocations.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

class Meter : public MemoryMeter {
 public:
  explicit Meter(int64_t room) : room_(room) {}
  absl::Status Add(int64_t bytes) override {
    if (bytes > room_ - used_) return absl::ResourceExhaustedError("METER_FULL: no more");
    used_ += bytes;
    return absl::OkStatus();
  }
  int64_t used() const { return used_; }

 private:
  const int64_t room_;
  int64_t used_ = 0;
};

// Zlib blocks of 1 MiB of zeros each, as VTK writes an array: a thousand times smaller than what they declare.
std::string Zeros(uint32_t mib) {
  const std::string block(kMiB, '\0');
  uLongf size = compressBound(block.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(block.data()), block.size(), 9);
  packed.resize(size);
  std::vector<uint32_t> header = {mib, static_cast<uint32_t>(kMiB), 0};
  std::string all;
  for (uint32_t i = 0; i < mib; ++i) {
    header.push_back(static_cast<uint32_t>(size));
    all += packed;
  }
  const std::string head(reinterpret_cast<const char*>(header.data()), header.size() * sizeof(uint32_t));
  return absl::Base64Escape(head) + absl::Base64Escape(all);
}

std::string Array(const char* type, const char* name, const std::string& data) {
  return absl::StrCat("<DataArray type=\"", type, "\" Name=\"", name, "\" format=\"binary\">", data, "</DataArray>");
}

std::string Vtu(const std::string& piece, const std::string& points, const std::string& cells) {
  return absl::StrCat("<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt32\" ",
                      "compressor=\"vtkZLibDataCompressor\"><Piece ", piece, "><Points>", points, "</Points><Cells>", cells,
                      "</Cells></Piece></VTKFile>");
}

TEST(MeshMemory, ArraysThatInflateWithoutEndAreRefusedBeforeTheyDo) {
  if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "allocations are not counted in this build";
  const std::string cells = Array("UInt8", "connectivity", Zeros(64)) + Array("UInt8", "offsets", Zeros(64));
  // Not one of these cells is read: type 0.
  const std::string of_no_type = Vtu("", Array("Float32", "p", Zeros(3)), cells + Array("UInt8", "types", Zeros(64)));
  int64_t before = testing::RequestedBytes();
  const absl::Status status = ParseMesh(of_no_type, "a.vtu").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cell 0 has VTK type 0"));
  EXPECT_LT(testing::RequestedBytes() - before, 32 * kMiB);

  // More than the piece declares.
  const std::string types = Array("UInt8", "types", Zeros(1));
  for (const char* piece : {"NumberOfPoints=\"4\"", "NumberOfPoints=\"-1\"", "NumberOfPoints=\"many\""}) {
    const std::string content = Vtu(piece, Array("Float32", "p", Zeros(200)), cells + types);
    before = testing::RequestedBytes();
    EXPECT_EQ(ParseMesh(content, "a.vtu").status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_LT(testing::RequestedBytes() - before, 4 * kMiB) << piece;
  }
}

TEST(MeshMemory, ArraysMustBeAsLongAsThePieceDeclares) {
  const std::string points = "<DataArray type=\"Float64\" Name=\"p\" format=\"ascii\">0 0 0 1 0 0 0 1 0 0 0 1</DataArray>";
  const std::string cells =
      "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2 3</DataArray>"
      "<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">4</DataArray>"
      "<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">10</DataArray>";
  for (const char* piece : {"NumberOfPoints=\"4\" NumberOfCells=\"1\"", "NumberOfPoints='4'", ""}) {
    EXPECT_TRUE(ParseMesh(Vtu(piece, points, cells), "a.vtu").ok()) << piece;
  }
  for (const char* piece : {"NumberOfPoints=\"3\"", "NumberOfPoints=\"5\"", "NumberOfCells=\"0\"", "NumberOfCells=\"2\""}) {
    EXPECT_THAT(std::string(ParseMesh(Vtu(piece, points, cells), "a.vtu").status().message()), HasSubstr("piece declares"));
  }
}

std::string Repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// Little text that becomes much.
std::vector<std::pair<std::string, std::string>> DenseFiles() {
  constexpr int kMany = 200000;
  std::string stl = "solid a\n", msh = absl::StrCat("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n", kMany, "\n");
  for (int i = 0; i < kMany; ++i) {
    if (i % 3 == 0) stl += "facet\n";
    absl::StrAppend(&stl, "vertex ", i, " 0 0\n", i % 3 == 2 ? "endfacet\n" : "");
    absl::StrAppend(&msh, i + 1, " 0 0 0\n");
  }
  absl::StrAppend(&msh, "$EndNodes\n$Elements\n1\n1 2 0 1 2 3\n$EndElements\n");
  const std::string corners = Repeated(" 0", kMany);
  return {{"a.obj", absl::StrCat("v 0 0 0\nf", Repeated(" 1", kMany), "\n")},
          {"a.off", absl::StrCat("OFF\n1 1 0\n0 0 0\n", kMany, corners, "\n")},
          // One statement of many lines.
          {"b.obj", absl::StrCat("v 0 0 0\nf 1 1 \\\n", Repeated("1 \\\n", kMany), "1\n")},
          {"a.mesh", absl::StrCat("MeshVersionFormatted 1 Dimension 3 Vertices 1 0 0 0 0 Triangles ", kMany, "\n",
                                  Repeated("1 1 1 0\n", kMany))},
          {"a.ply", absl::StrCat("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face 1\nproperty list int int "
                                 "vertex_index\nend_header\n0\n",
                                 kMany, corners, "\n")},
          {"a.stl", stl.substr(0, stl.rfind("facet"))},
          {"a.msh", msh},
          {"a.vtk", absl::StrCat("# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n0 0 0\nPOLYGONS 1 ",
                                 kMany + 1, "\n", kMany, corners, "\n")},
          {"a.vtu", absl::StrCat("<VTKFile type=\"UnstructuredGrid\"><Piece><Points><DataArray type=\"Float64\">0 0 0</DataArray>"
                                 "</Points><Cells><DataArray type=\"Int32\" Name=\"connectivity\">",
                                 corners, "</DataArray><DataArray type=\"Int32\" Name=\"offsets\">", kMany,
                                 "</DataArray><DataArray type=\"UInt8\" Name=\"types\">7</DataArray></Cells></Piece></VTKFile>")}};
}

TEST(MeshMemory, EveryReaderAsksForWhatItHolds) {
  if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "allocations are not counted in this build";
  for (const auto& [name, content] : DenseFiles()) {
    Meter meter(1024 * kMiB);
    const int64_t before = testing::RequestedBytes();
    const auto mesh = ParseMesh(content, name, &meter);
    const int64_t requested = testing::RequestedBytes() - before;
    ASSERT_TRUE(mesh.ok()) << mesh.status();
    EXPECT_GE(meter.used(), mesh->bytes()) << name;
    EXPECT_LE(requested, meter.used() + kMiB) << name;
  }
}

TEST(MeshMemory, AReaderEndsWhereItsMeterDoes) {
  for (const auto& [name, content] : DenseFiles()) {
    Meter meter(kMiB);
    const int64_t before = testing::RequestedBytes();
    EXPECT_EQ(ParseMesh(content, name, &meter).status(), absl::ResourceExhaustedError("METER_FULL: no more")) << name;
    EXPECT_LE(testing::RequestedBytes() - before, 2 * kMiB) << name;
  }
}

TEST(MeshMemory, ATagOfManyAttributesIsNotKept) {
  if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "allocations are not counted in this build";
  std::string tag = "<VTKFile ";
  for (int i = 0; i < 100000; ++i) absl::StrAppend(&tag, "a", i, "='' ");
  tag += "type='UnstructuredGrid'></VTKFile>";
  const int64_t before = testing::RequestedBytes();
  EXPECT_THAT(std::string(ParseMesh(tag, "a.vtu").status().message()), HasSubstr("needs Points"));
  EXPECT_LT(testing::RequestedBytes() - before, kMiB);
}

TEST(MeshMessages, AreUtf8WhateverTheFileHolds) {
  const std::string bad = "\xff\xfe\xc3";
  const std::pair<const char*, std::string> files[] = {
      {"a.obj", absl::StrCat("v ", bad, " 0 0\n")},
      {"a.obj", absl::StrCat("v 0 0 0\nf ", bad, "\n")},
      // A character of two bytes, cut in half where the quotation ends.
      {"a.obj", absl::StrCat("v ", std::string(39, 'x'), "\xc3\xa9 0 0\n")},
      {"a.off", absl::StrCat("OFF ", bad)},
      {"a.stl", absl::StrCat("solid a\n", bad, "\n")},
      {"a.mesh", absl::StrCat("MeshVersionFormatted ", bad)},
      {"a.mesh", absl::StrCat("MeshVersionFormatted 1 Dimension 3 Vertices 1 0 0 ", bad)},
      {"a.ply", absl::StrCat("ply\nformat ascii 1.0\nelement ", bad, " 5\nproperty float x\nend_header\n")},
      {"a.msh", absl::StrCat("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$", bad, "\n")},
      {"a.vtk", absl::StrCat("# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n", bad)},
      {"a.vtu", absl::StrCat("<VTKFile type=\"UnstructuredGrid\" compressor=\"", bad, "\">")},
      {"a.vtu", absl::StrCat("<VTKFile type=\"UnstructuredGrid\"><Points><DataArray type=\"", bad, "\">")}};
  for (const auto& [name, content] : files) {
    const absl::Status status = ParseMesh(content, name).status();
    ASSERT_FALSE(status.ok()) << name;
    EXPECT_EQ(ToUtf8(status.message()), status.message()) << name;
  }
}

}  // namespace
}  // namespace eipc
