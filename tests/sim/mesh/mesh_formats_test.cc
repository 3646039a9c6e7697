// PLY, Gmsh MSH, Medit, VTU and binary legacy VTK: one tetrahedron and one of its faces, written here in each variant of each
// format. And what holds for every format: vertices keep the order of the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "sim/mesh/read_mesh.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

const std::vector<Vec3> kPoints = {Vec3(0, 0, 0), Vec3(1.5, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, -0.25)};

template <typename T>
std::string Bytes(std::initializer_list<T> values, bool big = false) {
  std::string out;
  for (T value : values) {
    std::string raw(reinterpret_cast<const char*>(&value), sizeof(T));
    if (big) std::reverse(raw.begin(), raw.end());
    out += raw;
  }
  return out;
}

template <typename T>
std::string PointBytes(bool big = false) {
  std::string out;
  for (const Vec3& p : kPoints) out += Bytes<T>({static_cast<T>(p.x()), static_cast<T>(p.y()), static_cast<T>(p.z())}, big);
  return out;
}

std::string Base64(const std::string& in) {
  const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < in.size(); i += 3) {
    unsigned bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (i + k < in.size() ? static_cast<unsigned char>(in[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += i + k > in.size() ? '=' : digits[bits >> (18 - 6 * k) & 63];
  }
  return out;
}

void ExpectTet(const std::string& content, const std::string& name, bool has_tet = true, bool has_triangle = true) {
  const auto mesh = ParseMesh(content, name);
  ASSERT_TRUE(mesh.ok()) << name << ": " << mesh.status();
  EXPECT_EQ(mesh->vertices, kPoints);
  EXPECT_EQ(mesh->tets, has_tet ? std::vector<Tet>({{0, 1, 2, 3}}) : std::vector<Tet>());
  EXPECT_EQ(mesh->triangles, has_triangle ? std::vector<Triangle>({{0, 2, 1}}) : std::vector<Triangle>());
}

// Cut anywhere or damaged anywhere, a file is read or refused; it never crashes, and never allocates without end.
void ExpectRobust(const std::string& content, const std::string& name) {
  for (size_t length = 0; length < content.size(); ++length) {
    const auto mesh = ParseMesh(content.substr(0, length), name);
    if (!mesh.ok()) {
      EXPECT_THAT(std::string(mesh.status().message()), HasSubstr(name));
    }
  }
  for (size_t at = 0; at < content.size(); ++at) {
    for (const char c : {'\xff', '\x00', '9', '-', '<'}) {
      std::string damaged = content;
      damaged[at] = c;
      const auto mesh = ParseMesh(damaged, name);
      if (!mesh.ok()) continue;
      for (const Vec3& p : mesh->vertices) EXPECT_TRUE(p.allFinite());
      for (const Triangle& t : mesh->triangles) {
        for (const int32_t v : t) EXPECT_TRUE(v >= 0 && v < static_cast<int32_t>(mesh->vertices.size()));
      }
    }
  }
}

std::string Ply(const std::string& format) {
  const bool big = format == "binary_big_endian";
  const std::string header = "ply\nformat " + format +
                             " 1.0\ncomment made here\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
                             "property uchar red\nelement face 1\nproperty float quality\nproperty list uchar int "
                             "vertex_indices\nelement edge 1\nproperty int a\nend_header\n";
  if (format == "ascii") return header + "0 0 0 255\n1.5 0 0 0\n0 2 0 0\n0 0 -0.25 7\n0.5 3 0 2 1\n4\n";
  std::string body;
  for (const Vec3& p : kPoints) {
    body += Bytes<float>({static_cast<float>(p.x()), static_cast<float>(p.y()), static_cast<float>(p.z())}, big) + "r";
  }
  return header + body + Bytes<float>({0.5f}, big) + Bytes<uint8_t>({3}) + Bytes<int32_t>({0, 2, 1}, big) +
         Bytes<int32_t>({4}, big);
}

TEST(ReadPly, EveryEncoding) {
  for (const char* format : {"ascii", "binary_little_endian", "binary_big_endian"}) {
    ExpectTet(Ply(format), "m.ply", false);
    ExpectRobust(Ply(format), "m.ply");
  }
}

TEST(ReadPly, FansPolygonsAndNamesWhatIsWrong) {
  const std::string square =
      "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_index\nelement vertex 4\nproperty double x\n"
      "property double y\nproperty double z\nend_header\n4 0 1 2 3\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n";
  const auto mesh = ParseMesh(square, "m.ply");
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_EQ(mesh->triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
  const auto error = [](const std::string& content) { return std::string(ParseMesh(content, "m.ply").status().message()); };
  EXPECT_THAT(error("ply\nformat ascii 1.0\nelement vertex 2000000000\nproperty float x\nend_header\n0\n"), HasSubstr("cut short"));
  EXPECT_THAT(error("ply\nformat binary_little_endian 1.0\nelement vertex 2000000000\nproperty float x\nend_header\n0\n"),
              HasSubstr("cut short"));
  EXPECT_THAT(error("ply\nend_header\n"), HasSubstr("format"));
  std::string outside = square;
  outside[outside.find("4 0 1 2 3") + 8] = '7';
  EXPECT_THAT(error(outside), HasSubstr("out of range"));
}

std::string Msh2(bool binary) {
  if (!binary) {
    return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"solid\"\n$EndPhysicalNames\n$Nodes\n4\n"
           "10 0 0 0\n11 1.5 0 0\n12 0 2 0\n13 0 0 -0.25\n$EndNodes\n$Elements\n3\n1 15 2 0 1 13\n2 4 2 0 1 10 11 12 13\n"
           "3 2 2 0 1 10 12 11\n$EndElements\n";
  }
  std::string out = "$MeshFormat\n2.2 1 8\n" + Bytes<int32_t>({1}) + "\n$EndMeshFormat\n$Nodes\n4\n";
  for (int i = 0; i < 4; ++i) out += Bytes<int32_t>({10 + i}) + Bytes<double>({kPoints[i].x(), kPoints[i].y(), kPoints[i].z()});
  out += "\n$EndNodes\n$Elements\n2\n" + Bytes<int32_t>({4, 1, 2, 1, 0, 1, 10, 11, 12, 13});
  return out + Bytes<int32_t>({2, 1, 2, 2, 0, 1, 10, 12, 11}) + "\n$EndElements\n";
}

std::string Msh41(bool binary) {
  if (!binary) {
    return "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 0\n$EndEntities\n$Nodes\n2 4 10 13\n2 1 1 1\n10\n0 0 0 0.1 0.2\n"
           "3 1 0 3\n11\n12\n13\n1.5 0 0\n0 2 0\n0 0 -0.25\n$EndNodes\n$Elements\n2 2 1 2\n3 1 4 1\n1 10 11 12 13\n2 1 2 1\n"
           "2 10 12 11\n$EndElements\n";
  }
  std::string out = "$MeshFormat\n4.1 1 8\n" + Bytes<int32_t>({1}) + "\n$EndMeshFormat\n$Nodes\n" +
                    Bytes<uint64_t>({1, 4, 10, 13}) + Bytes<int32_t>({3, 1, 0}) + Bytes<uint64_t>({4, 10, 11, 12, 13}) +
                    PointBytes<double>() + "\n$EndNodes\n$Elements\n" + Bytes<uint64_t>({2, 2, 1, 2});
  out += Bytes<int32_t>({3, 1, 4}) + Bytes<uint64_t>({1, 1, 10, 11, 12, 13}) + Bytes<int32_t>({2, 1, 2});
  return out + Bytes<uint64_t>({1, 2, 10, 12, 11}) + "\n$EndElements\n";
}

TEST(ReadMsh, EveryVersionAndEncoding) {
  const std::string version_40 =
      "$MeshFormat\n4.0 0 8\n$EndMeshFormat\n$Nodes\n1 4\n1 3 0 4\n10 0 0 0\n11 1.5 0 0\n12 0 2 0\n13 0 0 -0.25\n$EndNodes\n"
      "$Elements\n2 2\n1 3 4 1\n1 10 11 12 13\n1 2 2 1\n2 10 12 11\n$EndElements\n";
  for (const std::string& content : {Msh2(false), Msh2(true), Msh41(false), Msh41(true), version_40}) {
    ExpectTet(content, "m.msh");
    ExpectRobust(content, "m.msh");
  }
}

std::string Vtu(const std::string& root, const std::string& points, const std::string& cells, const std::string& tail) {
  return "<?xml version=\"1.0\"?>\n<!-- <Piece> --><VTKFile type=\"UnstructuredGrid\" " + root +
         ">\n<UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"2\"><PointData><DataArray type=\"Float32\" Name=\"u\" "
         "format=\"ascii\">1 2 3 4</DataArray></PointData><Points>" +
         points + "</Points><Cells>" + cells + "</Cells></Piece></UnstructuredGrid>" + tail + "</VTKFile>\n";
}

std::string DataArray(const std::string& type, const std::string& name, const std::string& rest) {
  return "<DataArray type=\"" + type + "\" Name=\"" + name + "\" " + rest;
}

TEST(ReadVtu, Ascii) {
  const std::string content =
      Vtu("version=\"0.1\"",
          DataArray("Float64", "Points", "NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1.5 0 0 0 2 0 0 0 -0.25</DataArray>"),
          DataArray("Int32", "connectivity", "format=\"ascii\">0 1 2 3 0 2 1</DataArray>") +
              DataArray("Int32", "offsets", "format=\"ascii\">4 7</DataArray>") +
              DataArray("UInt8", "types", "format=\"ascii\">10 5</DataArray>"),
          "");
  ExpectTet(content, "m.vtu");
  ExpectRobust(content, "m.vtu");
}

std::string Packed(const std::string& data, bool zlib, bool base64, bool big) {
  const auto encode = [&](const std::string& bytes) { return base64 ? Base64(bytes) : bytes; };
  if (!zlib) return encode(Bytes<uint64_t>({data.size()}, big) + data);
  // Two blocks, the second of which is not full where there is enough for it.
  const size_t block = data.size() == 2 ? 1 : data.size() / 2 + 1;
  std::string packed;
  std::vector<uint64_t> sizes;
  for (const std::string& part : {data.substr(0, block), data.substr(block)}) {
    uLongf size = compressBound(part.size());
    std::string out(size, '\0');
    compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(part.data()), part.size());
    packed += out.substr(0, size);
    sizes.push_back(size);
  }
  return encode(Bytes<uint64_t>({2, block, data.size() - block, sizes[0], sizes[1]}, big)) + encode(packed);
}

TEST(ReadVtu, BinaryAndAppended) {
  for (int variant = 0; variant < 16; ++variant) {
    const bool zlib = variant & 1, base64 = variant & 2, appended = variant & 4, big = variant & 8;
    if (!appended && !base64) continue;
    const std::string arrays[] = {
        Packed(PointBytes<float>(big), zlib, base64, big), Packed(Bytes<int64_t>({0, 1, 2, 3, 0, 2, 1}, big), zlib, base64, big),
        Packed(Bytes<int64_t>({4, 7}, big), zlib, base64, big), Packed(Bytes<uint8_t>({10, 5}), zlib, base64, big)};
    const char* types[] = {"Float32", "Int64", "Int64", "UInt8"};
    const char* names[] = {"Points", "connectivity", "offsets", "types"};
    std::string tags[4], tail;
    for (int a = 0; a < 4; ++a) {
      tags[a] = appended ? DataArray(types[a], names[a], "format=\"appended\" offset=\"" + std::to_string(tail.size()) + "\"/>")
                         : DataArray(types[a], names[a], "format=\"binary\">\n  " + arrays[a] + "\n</DataArray>");
      tail += arrays[a];
    }
    const std::string root = std::string("header_type=\"UInt64\" byte_order=\"") + (big ? "BigEndian\"" : "LittleEndian\"") +
                             (zlib ? " compressor=\"vtkZLibDataCompressor\"" : "");
    const std::string content = Vtu(
        root, tags[0], tags[1] + tags[2] + tags[3],
        appended ? std::string("<AppendedData encoding=\"") + (base64 ? "base64" : "raw") + "\">_" + tail + "</AppendedData>" : "");
    SCOPED_TRACE(variant);
    ExpectTet(content, "m.vtu");
    ExpectRobust(content, "m.vtu");
  }
}

TEST(ReadVtk, BinaryOfBothCellFormats) {
  const std::string points = "BINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n" + PointBytes<double>(true) + "\n";
  const std::string types = "\nCELL_TYPES 2\n" + Bytes<int32_t>({10, 5}, true) + "\n";
  const std::string old =
      "# vtk DataFile Version 3.0\nt\n" + points + "CELLS 2 9\n" + Bytes<int32_t>({4, 0, 1, 2, 3, 3, 0, 2, 1}, true) + types;
  const std::string recent = "# vtk DataFile Version 5.1\nt\n" + points + "CELLS 3 7\nOFFSETS vtktypeint64\n" +
                             Bytes<int64_t>({0, 4, 7}, true) + "\nCONNECTIVITY vtktypeint64\n" +
                             Bytes<int64_t>({0, 1, 2, 3, 0, 2, 1}, true) + types;
  for (const std::string& content : {old, recent}) {
    ExpectTet(content, "m.vtk");
    ExpectRobust(content, "m.vtk");
  }
}

std::string Medit(const std::string& version, const std::string& dimension) {
  return "MeshVersionFormatted " + version + " # a comment\n\n" + dimension +
         "\nVertices\n4\n0 0 0 1\n1.5 0 0 1\n0 2 0 1\n0 0 -0.25 2\n\nEdges 1\n1 2 7\nCorners\n2\n1\n2\nTetrahedra\n1\n1 2 3 4 5\n"
         "Triangles\n1\n1 3 2 0\nNormals\n1\n0 0 -1.5e0\nEnd\n";
}

TEST(ReadMedit, AsciiOfBothVersions) {
  for (const std::string& content : {Medit("1", "Dimension 3"), Medit("2", "Dimension\n3")}) {
    ExpectTet(content, "m.mesh");
    ExpectRobust(content, "m.mesh");
  }
  ExpectTet(Medit("2", "Dimension 3").substr(0, Medit("2", "Dimension 3").size() - 4), "m.mesh");  // End may be missing
}

TEST(ReadMedit, SplitsQuadrilateralsAndNamesWhatIsWrong) {
  const std::string head = "MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 0\n1 0 0 0\n1 1 0 0\n0 1 0 0\n";
  const auto mesh = ParseMesh(head + "Quadrilaterals 1\n1 2 3 4 0\nEnd\n", "m.mesh");
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_EQ(mesh->triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
  const auto error = [](const std::string& content) { return std::string(ParseMesh(content, "m.mesh").status().message()); };
  EXPECT_THAT(error("v 0 0 0\n"), HasSubstr("m.mesh:1: not a Medit file: it must start with 'MeshVersionFormatted'"));
  EXPECT_THAT(error("MeshVersionFormatted 2\nDimension 2\nVertices 1\n0 0 0\n"), HasSubstr("m.mesh:2: Dimension must be 3, got 2"));
  EXPECT_THAT(error(head + "Triangles 1\n1 2 5 0\n"), HasSubstr("m.mesh:9: vertex index 5 is out of range: there are 4 vertices"));
  EXPECT_THAT(error(head + "Triangles 1\n0 1 2 0\n"), HasSubstr("indices start at 1"));
  EXPECT_THAT(error(head + "Triangles 1\n1 2        \n"), HasSubstr("got the end of the file"));
  EXPECT_THAT(error(head + "Triangles 1000000000000\n1 2 3 0\n"), HasSubstr("more than the rest of the file can hold"));
  EXPECT_THAT(error(head + "Hexahedra 1\n1 2 3 4 1 2 3 4 0\n"), HasSubstr("m.mesh:8: Hexahedra are not read"));
  EXPECT_THAT(error(head + "Vertices 1\n0 0 0 0\n"), HasSubstr("a second section Vertices"));
  EXPECT_THAT(error(head + "3 4 5\n"), HasSubstr("expected the name of a section"));
  EXPECT_THAT(error("MeshVersionFormatted 2\nDimension 3\nTriangles 1\n1 2 3 0\n"), HasSubstr("Vertices must come first"));
}

// Points 0 to 5; one tetrahedron whose corners are, in its own order, 4, 2, 5, 0, and one triangle 4, 5, 2. 1 and 3 are in no cell.
TEST(EveryReader, KeepsTheVerticesInTheOrderOfTheFile) {
  const std::vector<Vec3> points = {Vec3(0, 0, 1), Vec3(7, 7, 7), Vec3(1, 0, 0), Vec3(8, 8, 8), Vec3(0, 0, 0), Vec3(0, 1, 0)};
  std::string xyz, obj, medit, numbered, tagged, tags;
  for (size_t i = 0; i < points.size(); ++i) {
    const std::string p =
        std::to_string(points[i].x()) + " " + std::to_string(points[i].y()) + " " + std::to_string(points[i].z()) + "\n";
    xyz += p;
    obj += "v " + p;
    medit += p.substr(0, p.size() - 1) + " 0\n";
    tags += std::to_string(60 - 10 * i) + "\n";  // Gmsh's tags need not rise
    tagged += std::to_string(60 - 10 * i) + " " + p;
  }
  const std::pair<const char*, std::string> files[] = {
      {"m.obj", obj + "f 5 6 3\n"},
      {"m.off", "OFF\n6 1 0\n" + xyz + "3 4 5 2\n"},
      {"m.ply",
       "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
       "property list uchar int vertex_indices\nend_header\n" +
           xyz + "3 4 5 2\n"},
      {"m.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 6 double\n" + xyz +
                    "CELLS 2 9\n4 4 2 5 0\n3 4 5 2\nCELL_TYPES 2\n10 5\n"},
      {"m.vtu",
       "<VTKFile type=\"UnstructuredGrid\"><Piece><Points><DataArray type=\"Float64\">" + xyz +
           "</DataArray></Points><Cells><DataArray type=\"Int32\" Name=\"connectivity\">4 2 5 0 4 5 2</DataArray><DataArray "
           "type=\"Int32\" Name=\"offsets\">4 7</DataArray><DataArray type=\"UInt8\" Name=\"types\">10 5</DataArray></Cells>"
           "</Piece></VTKFile>"},
      {"m2.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n" + tagged +
                     "$EndNodes\n$Elements\n2\n1 4 2 0 1 20 40 10 60\n2 2 2 0 1 20 10 40\n$EndElements\n"},
      {"m4.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 6 10 60\n3 1 0 6\n" + tags + xyz +
                     "$EndNodes\n$Elements\n2 2 1 2\n3 1 4 1\n1 20 40 10 60\n2 1 2 1\n2 20 10 40\n$EndElements\n"},
      {"m.mesh",
       "MeshVersionFormatted 2\nDimension 3\nVertices 6\n" + medit + "Tetrahedra 1\n5 3 6 1 0\nTriangles 1\n5 6 3 0\nEnd\n"},
  };
  for (const auto& [name, content] : files) {
    const auto mesh = ParseMesh(content, name);
    ASSERT_TRUE(mesh.ok()) << mesh.status();
    EXPECT_EQ(mesh->vertices, points) << name;
    EXPECT_EQ(mesh->triangles, (std::vector<Triangle>{{4, 5, 2}})) << name;
    if (!mesh->tets.empty()) {
      EXPECT_EQ(mesh->tets, (std::vector<Tet>{{4, 2, 5, 0}})) << name;
    }
  }
}

// A byte order mark is no part of the text: an OBJ file lost its first vertex to it, which shifted every index.
TEST(EveryReader, StepsOverAByteOrderMark) {
  const std::string mark = "\xef\xbb\xbf";
  ExpectTet(mark + "v 0 0 0\nv 1.5 0 0\nv 0 2 0\nv 0 0 -0.25\nf 1 3 2\n", "m.obj", false);
  ExpectTet(mark + "OFF\n4 1 0\n0 0 0\n1.5 0 0\n0 2 0\n0 0 -0.25\n3 0 2 1\n", "m.off", false);
  ExpectTet(mark + Ply("ascii"), "m.ply", false);
  ExpectTet(mark + Msh2(false), "m.msh");
  ExpectTet(mark + Medit("1", "Dimension 3"), "m.mesh");
  const auto stl = ParseMesh(mark + "solid a\nfacet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendfacet\nendsolid\n", "m.stl");
  ASSERT_TRUE(stl.ok()) << stl.status();
  EXPECT_EQ(stl->triangles.size(), 1u);
}

}  // namespace
}  // namespace eipc
