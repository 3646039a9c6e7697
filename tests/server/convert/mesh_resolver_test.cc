#include "server/convert/mesh_resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace eipc {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class MeshResolverTest : public ::testing::Test {
 protected:
  MeshResolverTest() : root_(fs::path(::testing::TempDir()) / "mesh_resolver_test") {
    fs::remove_all(root_);
    fs::create_directories(root_ / "meshes/sub");
    fs::create_directories(root_ / "meshes-not");
    fs::create_directories(root_ / "data");
    std::ofstream(root_ / "meshes/a.obj") << "v 0 0 0\n";
    std::ofstream(root_ / "secret.obj") << "v 0 0 0\n";
    fs::create_symlink(root_ / "secret.obj", root_ / "meshes/link.obj");
    fs::create_symlink("a.obj", root_ / "meshes/inner_link.obj");
  }
  ~MeshResolverTest() override { fs::remove_all(root_); }

  MeshResolver Confined() const { return MeshResolver({(root_ / "meshes").string(), (root_ / "data").string(), true}); }
  fs::path root_;
};

TEST_F(MeshResolverTest, FindsFilesInItsFolders) {
  EXPECT_EQ(*Confined().Resolve("a.obj"), fs::canonical(root_ / "meshes/a.obj").string());
  EXPECT_EQ(*Confined().Resolve("sub/../a.obj"), fs::canonical(root_ / "meshes/a.obj").string());
  EXPECT_EQ(*Confined().Resolve("inner_link.obj"), fs::canonical(root_ / "meshes/a.obj").string());
  // Whether it is there is the reader's business.
  EXPECT_EQ(*Confined().Resolve("data:x/y.vtk"), (fs::canonical(root_ / "data") / "x/y.vtk").string());
}

TEST_F(MeshResolverTest, RefusesToLeaveThem) {
  for (const std::string& reference :
       {std::string("../secret.obj"), std::string("sub/../../secret.obj"), std::string("/etc/passwd"), std::string("link.obj"),
        std::string("../meshes-not/a.obj"), std::string("data:../secret.obj"), std::string("data:/etc/passwd"),
        (root_ / "meshes/a.obj").string()}) {
    const auto path = Confined().Resolve(reference);
    EXPECT_EQ(path.status().code(), absl::StatusCode::kInvalidArgument) << reference;
    EXPECT_THAT(std::string(path.status().message()), HasSubstr("outside")) << reference;
  }
  EXPECT_FALSE(Confined().Resolve("").ok());
  EXPECT_FALSE(Confined().Resolve("data:").ok());
  EXPECT_FALSE(Confined().Resolve(std::string("a.obj\0b", 7)).ok());
}

TEST_F(MeshResolverTest, WithoutFoldersThereAreNoFiles) {
  const MeshResolver none({"", "", true});
  EXPECT_THAT(std::string(none.Resolve("a.obj").status().message()), HasSubstr("--mesh-root"));
  EXPECT_THAT(std::string(none.Resolve("data:a.obj").status().message()), HasSubstr("EIPC_DATA"));
}

TEST_F(MeshResolverTest, TheCommandLineMayGoAnywhere) {
  const MeshResolver local = MeshResolver::ForLocalScene((root_ / "meshes/scene.textproto").string(), "");
  EXPECT_TRUE(fs::equivalent(*local.Resolve("../secret.obj"), root_ / "secret.obj"));
  EXPECT_EQ(*local.Resolve("/etc/passwd"), "/etc/passwd");
  EXPECT_EQ(*MeshResolver::ForLocalScene("scene.textproto", "").Resolve("a.obj"), "./a.obj");
}

}  // namespace
}  // namespace eipc
