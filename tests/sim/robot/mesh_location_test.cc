// Where the meshes of a robot description are.

#include "sim/robot/mesh_location.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace eipc {
namespace {

using ::testing::HasSubstr;

// A workspace with packages "arm" (the description in arm/urdf) and "hand", each with a mesh.
class MeshLocation : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / "mesh_location_test";
    for (const char* sub : {"arm/urdf", "arm/meshes", "hand/meshes"}) std::filesystem::create_directories(folder_ / sub);
    for (const char* file : {"arm/meshes/link.obj", "hand/meshes/finger.obj"}) std::ofstream(folder_ / file) << "v 0 0 0\n";
    description_ = (folder_ / "arm/urdf/arm.urdf").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void ExpectFound(const std::string& reference, const std::string& file, const PackageFolders& packages = {}) {
    const absl::StatusOr<std::string> found = FindMeshFile(reference, description_, packages);
    ASSERT_TRUE(found.ok()) << reference << ": " << found.status();
    EXPECT_TRUE(std::filesystem::equivalent(*found, folder_ / file)) << *found;
  }

  std::filesystem::path folder_;
  std::string description_;
};

TEST_F(MeshLocation, FindsPathsAndPackages) {
  ExpectFound("../meshes/link.obj", "arm/meshes/link.obj");
  ExpectFound((folder_ / "arm/meshes/link.obj").string(), "arm/meshes/link.obj");
  ExpectFound("file://" + (folder_ / "arm/meshes/link.obj").string(), "arm/meshes/link.obj");
  ExpectFound("package://arm/meshes/link.obj", "arm/meshes/link.obj");
  ExpectFound("package://hand/meshes/finger.obj", "hand/meshes/finger.obj");
  ExpectFound("package://gripper/meshes/finger.obj", "hand/meshes/finger.obj", {{"gripper", (folder_ / "hand").string()}});
}

TEST_F(MeshLocation, SaysWhatIsMissing) {
  const auto message = [&](const std::string& reference) {
    return std::string(FindMeshFile(reference, description_, {}).status().message());
  };
  EXPECT_THAT(message("../meshes/none.obj"), HasSubstr("there is no file"));
  EXPECT_THAT(message("../meshes"), HasSubstr("there is no file"));
  EXPECT_THAT(message("package://leg/link.obj"), HasSubstr("the package \"leg\"; name it with --package leg=FOLDER"));
  EXPECT_THAT(message("package://arm"), HasSubstr("package://NAME/PATH"));
  EXPECT_THAT(message("http://example.org/link.obj"), HasSubstr("must be a path"));
}

}  // namespace
}  // namespace eipc
