#include "sim/mesh/read_mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "sim/mesh/mesh_formats.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"
#include "sim/mesh/write_mesh.h"
#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

class ReadMeshTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) / "eipc_read_mesh_test" / info->name();
    std::filesystem::create_directories(folder_);
  }
  std::string Put(const std::string& name, const std::string& content) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::string ErrorOf(const std::string& name, const std::string& content) {
    return std::string(ReadMesh(Put(name, content)).status().message());
  }
  std::string Path(const std::string& name) { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

constexpr char kVtk3[] =
    "# vtk DataFile Version 3.0\nt\nASCII\n\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0\n1 0 0 0 1 0\n0 0 1\n"
    "CELLS 2 9\n4 0 1 2 3\n3 0 2 1\nCELL_TYPES 2\n10\n5\nPOINT_DATA 4\nanything at all\n";
constexpr char kVtk5[] =
    "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 "
    "1\nMETADATA\nINFORMATION 0\n\n"
    "CELLS 3 7\nOFFSETS vtktypeint64\n0 4 7\nCONNECTIVITY vtktypeint64\n0 1 2 3 0\n2 1\nCELL_TYPES 2\n10\n5\n";

TEST_F(ReadMeshTest, ReadsBothVtkCellFormats) {
  for (const char* text : {kVtk3, kVtk5}) {
    const auto mesh = ReadMesh(Put("m.vtk", text));
    ASSERT_TRUE(mesh.ok()) << mesh.status();
    EXPECT_EQ(mesh->vertices.size(), 4u);
    EXPECT_EQ(mesh->tets, (std::vector<Tet>{{0, 1, 2, 3}}));
    EXPECT_EQ(mesh->triangles, (std::vector<Triangle>{{0, 2, 1}}));
  }
}

TEST_F(ReadMeshTest, ParsesContentByTheNameItCameWith) {
  const auto mesh = ParseMesh(kVtk3, "upload/m.vtk");
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_EQ(mesh->tets.size(), 1u);
  EXPECT_THAT(std::string(ParseMesh(kVtk3, "m.obj").status().message()), HasSubstr("m.obj"));
  EXPECT_THAT(std::string(ParseMesh(kVtk3, "m").status().message()), HasSubstr("unknown extension"));
}

// What the table says of a format is so: it is found by its extension, its reader answers, what it writes it reads, and errors list
// it.
TEST_F(ReadMeshTest, EveryFormatIsWhatItsRowSays) {
  const std::string error(ReadMesh(Path("x.step")).status().message());
  for (const MeshFormat& format : MeshFormats()) {
    const std::string name = absl::StrCat("m", format.extension);
    EXPECT_EQ(FindMeshFormat(name), &format);
    EXPECT_EQ(FindMeshFormat(absl::AsciiStrToUpper(name)), &format);
    EXPECT_THAT(error, HasSubstr(std::string(format.extension)));
    EXPECT_TRUE(format.holds_tets || format.holds_triangles);
    EXPECT_FALSE(format.read("", name, nullptr).ok() && ParseMesh("", name).ok());
    if (format.write == nullptr) continue;
    const MeshData box = testing::BoxTets(Vec3::Zero(), Vec3::Ones(), 1);
    if (format.holds_tets) {
      EXPECT_EQ(ParseMesh(format.write(box), name)->tets, box.tets);
    }
    const MeshData sphere = testing::Sphere(Vec3::Zero(), 1, 1);
    EXPECT_EQ(ParseMesh(format.write(sphere), name)->triangles, sphere.triangles);
  }
}

TEST_F(ReadMeshTest, ReadsVtkPolydataAndFields) {
  const auto mesh = ReadMesh(Put("m.vtk",
                                 "# vtk DataFile Version 4.2\nt\nASCII\nDATASET POLYDATA\nFIELD FieldData 1\nTIME 1 1 double\n0.5\n"
                                 "POINTS 4 double\n0 0 0 1 0 0 1 1 0 0 1 0\nPOLYGONS 1 5\n4 0 1 2 3\n"));
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_EQ(mesh->triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
}

TEST_F(ReadMeshTest, ReadsObj) {
  const auto mesh = ReadMesh(Put("m.OBJ", "# c\r\nv 0 0 0\r\nv 1 0 0 1 1 1\nv 1 1 0\nv 0 1 0\nvt 0 0\nf 1/1 2//3 3/1/1 -1\ng x\n"));
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_EQ(mesh->triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
}

TEST_F(ReadMeshTest, ReadsOffWithComments) {
  for (const char* head : {"OFF\n# hello\n4 1 0\n", "OFF 4 1 0\n"}) {
    const auto mesh = ReadMesh(Put("m.off", std::string(head) + "0 0 0 # a\n\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 255 0 0\n"));
    ASSERT_TRUE(mesh.ok()) << mesh.status();
    EXPECT_EQ(mesh->triangles.size(), 2u);
  }
}

// A backslash at the end of a line continues it, in any statement and with either line end; comments take none with them.
TEST_F(ReadMeshTest, ReadsContinuedLinesOfObj) {
  const auto mesh = ReadMesh(Put("m.obj", "# c \\\nv 0 \\\n 0 0\nv 1 0 0\r\nv 1 1 \\\r\n0\nv 0 1 0\nf 1 2 \\\n \\\n3 4\n"));
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_EQ(mesh->vertices, (std::vector<Vec3>{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(1, 1, 0), Vec3(0, 1, 0)}));
  EXPECT_EQ(mesh->triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
  EXPECT_THAT(ErrorOf("n.obj", "v 0 \\\n0 0\nv 0 \\\nnan 0\n"), HasSubstr("n.obj:3: a vertex needs three finite coordinates"));
  EXPECT_THAT(ErrorOf("r.obj", "v 0 0 0\nf 1 \\\n2 3\n"), HasSubstr("r.obj:2: face corner 2 is out of range"));
  EXPECT_THAT(ErrorOf("e.obj", "v 0 0 0\nf 1 2 \\"), HasSubstr("e.obj:2: a face needs at least 3 corners"));
}

// The word OFF is optional, and blank lines and comments may stand anywhere.
TEST_F(ReadMeshTest, ReadsEveryLayoutOfOff) {
  const std::string body = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n";
  for (const std::string& text :
       {"OFF\n\n  \n# a\n4 1 0\n" + body, "\n\n# a\n\nOFF\n4 1 0\n" + body, "# a\n4 1 0\n" + body, "OFF # a\n\n#b\n4 1\n" + body,
        "\r\n# a\r\nOFF\r\n\r\n4 1 0\r\n" + body,
        "COFF\n4 1 0\n0 0 0 255 0 0 255\n1 0 0 255 0 0 255\n1 1 0 9 9 9 9\n0 1 0 1 1 1 1\n4 0 1 2 3 0.5 0.5 0.5\n" +
            std::string()}) {
    const auto mesh = ReadMesh(Put("m.off", text));
    ASSERT_TRUE(mesh.ok()) << mesh.status() << "\n" << text;
    EXPECT_EQ(mesh->vertices, (std::vector<Vec3>{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(1, 1, 0), Vec3(0, 1, 0)})) << text;
    EXPECT_EQ(mesh->triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}})) << text;
  }
  EXPECT_THAT(ErrorOf("b.off", "OFF BINARY\n"), HasSubstr("b.off:1: binary OFF files are not read; save the mesh as ASCII"));
  EXPECT_THAT(ErrorOf("4.off", "4OFF\n4 1 0\n" + body), HasSubstr("4.off:1: "));
}

std::string BinaryStl(const MeshData& mesh, const std::string& header) {
  std::string out = header;
  out.resize(80, ' ');
  const uint32_t count = static_cast<uint32_t>(mesh.triangles.size());
  out.append(reinterpret_cast<const char*>(&count), 4);
  for (const Triangle& t : mesh.triangles) {
    float f[12] = {0, 0, 0};
    for (int k = 0; k < 9; ++k) f[3 + k] = static_cast<float>(mesh.vertices[t[k / 3]][k % 3]);
    out.append(reinterpret_cast<const char*>(f), sizeof(f));
    out.append(2, '\0');
  }
  return out;
}

TEST_F(ReadMeshTest, ReadsStlAndWeldsEqualCorners) {
  const MeshData box = testing::BoxSurface(Vec3(-1, -1, -1), Vec3(1, 1, 1));
  std::string ascii = "solid box\n";
  for (const Triangle& t : box.triangles) {
    ascii += "facet normal 0 0 0\n outer loop\n";
    for (const int32_t v : t) {
      std::ostringstream line;
      line << "  vertex " << box.vertices[v].transpose() << "\n";
      ascii += line.str();
    }
    ascii += " endloop\nendfacet\n";
  }
  for (const std::string& content : {BinaryStl(box, "solid in name only"), ascii + "endsolid box\n"}) {
    const auto mesh = ReadMesh(Put("m.stl", content));
    ASSERT_TRUE(mesh.ok()) << mesh.status();
    EXPECT_EQ(mesh->vertices.size(), 8u);
    const auto surface = SurfaceMesh::Create(mesh->vertices, mesh->triangles);
    ASSERT_TRUE(surface.ok()) << surface.status();
    EXPECT_TRUE(surface->IsClosed());
    EXPECT_DOUBLE_EQ(surface->SignedVolume(), 8);
  }
  EXPECT_THAT(ErrorOf("m.stl", ascii.substr(0, ascii.size() - 9)), HasSubstr("inside a facet"));
  EXPECT_THAT(ErrorOf("m.stl", BinaryStl(box, "x").substr(0, 300)), HasSubstr("cut short"));
}

TEST_F(ReadMeshTest, WritesWhatItReads) {
  MeshData tets = testing::BoxTets(Vec3(0.1, 0.2, 1.0 / 3), Vec3(1, 2, 3), 2);
  MeshData surface = testing::Sphere(Vec3(0.1, 0.2, 0.3), 1.0 / 3, 1);
  for (const auto& [name, mesh] : {std::pair{"t.vtk", &tets}, {"s.vtk", &surface}, {"s.obj", &surface}}) {
    ASSERT_TRUE(WriteMesh(Path(name), *mesh).ok());
    const auto back = ReadMesh(Path(name));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back->vertices, mesh->vertices);
    EXPECT_EQ(back->tets, mesh->tets);
    EXPECT_EQ(back->triangles, mesh->triangles);
  }
  EXPECT_THAT(std::string(WriteMesh(Path("t.obj"), tets).message()),
              HasSubstr("t.obj: tetrahedra are not written to this extension; supported: .vtk"));
  EXPECT_THAT(std::string(WriteMesh(Path("t.stl"), surface).message()),
              HasSubstr("t.stl: triangles are not written to this extension; supported: .obj, .vtk"));
  EXPECT_FALSE(WriteMesh(Path("no/such/folder.vtk"), tets).ok());
}

TEST_F(ReadMeshTest, ErrorsNameFileAndLine) {
  EXPECT_EQ(ReadMesh(Path("none.vtk")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(ReadMesh(Path("x.step")).status().message()), HasSubstr("convert"));
  EXPECT_THAT(ErrorOf("e.obj", ""), HasSubstr("neither"));
  EXPECT_THAT(ErrorOf("n.obj", "v 0 0 0\nv 0 nan 0\n"), HasSubstr("n.obj:2:"));
  EXPECT_THAT(ErrorOf("r.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\nv 1 1\n"), HasSubstr("r.obj:4:"));
  EXPECT_THAT(ErrorOf("r.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n"), HasSubstr("r.obj:3: face corner 3 is out of range"));
  EXPECT_THAT(ErrorOf("r.obj", "v 0 0 0\nf -1 -2 -3\n"), HasSubstr("r.obj:2:"));
  EXPECT_THAT(ErrorOf("o.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n"), HasSubstr("o.off:6:"));
  EXPECT_THAT(ErrorOf("o.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n"), HasSubstr("o.off:5:"));
  const std::string vtk = kVtk3;
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string s = vtk;
    s.replace(s.find(from), from.size(), to);
    return s;
  };
  EXPECT_THAT(ErrorOf("v.vtk", replaced("1 0 0 0 1 0", "1 inf 0 0 1 0")), HasSubstr("v.vtk:8:"));
  EXPECT_THAT(ErrorOf("v.vtk", replaced("4 0 1 2 3", "4 0 1 2 4")), HasSubstr("v.vtk:11: vertex index 4 is out of range"));
  EXPECT_THAT(ErrorOf("v.vtk", replaced("ASCII", "EBCDIC")), HasSubstr("ASCII or BINARY"));
  EXPECT_THAT(ErrorOf("v.vtk", replaced("10\n", "12\n")), HasSubstr("v.vtk:11: cell 0 has VTK type 12"));
  EXPECT_THAT(ErrorOf("v.vtk", vtk.substr(0, 100)), HasSubstr("v.vtk:"));
}

TEST_F(ReadMeshTest, HugeCountsAreRefusedBeforeAllocating) {
  const std::string head = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n";
  EXPECT_THAT(ErrorOf("h.vtk", head + "POINTS 900000000000 double\n0 0 0\n"), HasSubstr("h.vtk:5:"));
  EXPECT_THAT(ErrorOf("h.vtk", head + "POINTS -4 double\n0 0 0\n"), HasSubstr("negative"));
  EXPECT_THAT(ErrorOf("h.vtk", head + "POINTS 99999999999999999999999 double\n"), HasSubstr("h.vtk:5:"));
  EXPECT_THAT(ErrorOf("h.vtk", head + "POINTS 1 double\n0 0 0\nCELLS 9223372036854775807 4\n"), HasSubstr("h.vtk:7:"));
  EXPECT_THAT(ErrorOf("h.vtk", head + "POINTS 1 double\n0 0 0\nFIELD f 1\na 4000000000 4000000000 int\n"), HasSubstr("h.vtk:8:"));
  EXPECT_THAT(ErrorOf("h.off", "OFF\n1000000000000 1 0\n"), HasSubstr("h.off:2:"));
  EXPECT_THAT(ErrorOf("h.off", "OFF\n1 1 0\n0 0 0\n4000000000 0\n"), HasSubstr("h.off:4:"));
  std::string stl(84, 'x');
  std::memset(stl.data() + 80, 0xff, 4);
  EXPECT_THAT(ErrorOf("h.stl", stl), HasSubstr("cut short"));
}

// Every prefix of a good file, and the file with any one byte changed, gives a mesh or a status; run under sanitizers this is the
// readers' crash test.
TEST_F(ReadMeshTest, DamagedFilesNeverCrash) {
  const MeshData box = testing::BoxSurface(Vec3(-1, -1, -1), Vec3(1, 1, 1));
  ASSERT_TRUE(WriteMesh(Path("b.obj"), box).ok());
  std::ifstream in(Path("b.obj"));
  const std::string obj((std::istreambuf_iterator<char>(in)), {});
  const std::string off = "OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n";
  for (const auto& [name, good] : {std::pair<std::string, std::string>{"d.vtk", kVtk3},
                                   {"d.vtk", kVtk5},
                                   {"d.obj", obj},
                                   {"d.off", off},
                                   {"d.stl", BinaryStl(box, "x")}}) {
    for (size_t n = 0; n < good.size(); ++n) {
      (void)ReadMesh(Put(name, good.substr(0, n)));
      std::string changed = good;
      changed[n] = static_cast<char>(changed[n] ^ (n % 2 ? 0x11 : 0x80));
      const auto mesh = ReadMesh(Put(name, changed));
      if (!mesh.ok()) continue;
      for (const Triangle& t : mesh->triangles) {
        for (const int32_t v : t) ASSERT_LT(static_cast<size_t>(v), mesh->vertices.size());
      }
    }
  }
}

TEST_F(ReadMeshTest, ReadsRealMeshes) {
  const char* data = std::getenv("EIPC_DATA");
  if (data == nullptr || !std::filesystem::exists(std::string(data) + "/drake_bubble_teddy/teddy.vtk"))
    GTEST_SKIP() << "no EIPC_DATA";
  const auto teddy = ReadMesh(std::string(data) + "/drake_bubble_teddy/teddy.vtk");
  ASSERT_TRUE(teddy.ok()) << teddy.status();
  const auto mesh = TetMesh::Create(teddy->vertices, teddy->tets);
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_EQ(mesh->vertices().size(), 410u);
  EXPECT_EQ(mesh->tets().size(), 1207u);
  EXPECT_EQ(mesh->BoundaryTriangles().size(), 620u);
  EXPECT_NEAR(mesh->TotalVolume() * 0.15 * 0.15 * 0.15, 7.752388e-4, 1e-9);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".vtk" && extension != ".obj" && extension != ".off" && extension != ".stl" && extension != ".STL") continue;
    const auto read = ReadMesh(entry.path().string());
    if (read.ok()) continue;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(entry.path().filename().string()));
    std::printf("%s\n", std::string(read.status().message()).c_str());
  }
}

}  // namespace
}  // namespace eipc
