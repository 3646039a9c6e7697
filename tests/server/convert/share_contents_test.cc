#include "server/convert/share_contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "eipc/v1/scene.pb.h"
#include "server/convert/scene_meshes.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

using File = std::pair<std::string, std::string>;  // name, data

// References that name kept files; others name files elsewhere.
using Kept = std::map<std::string, File>;

FindKeptFile FindIn(const Kept& kept) {
  return [&kept](const std::string& reference) -> absl::StatusOr<std::optional<KeptFile>> {
    if (reference == "gone") return absl::NotFoundError("MESH_NOT_FOUND: gone");
    const auto found = kept.find(reference);
    if (found == kept.end()) return std::optional<KeptFile>();
    return std::optional<KeptFile>(KeptFile{nullptr, found->second.first, found->second.second});
  };
}

// What each mesh has; absent where it has no file's content.
std::vector<std::optional<File>> Resolve(const Kept& kept, v1::Scene scene) {
  std::vector<std::optional<File>> files;
  ForEachMesh(&scene, [&](v1::Mesh* mesh, const std::string&) {
    std::optional<File>& file = files.emplace_back();
    if (mesh->has_contents()) file = {mesh->contents().file_name(), mesh->contents().data()};
    if (mesh->has_shared_file()) {
      const v1::MeshFile& shared = scene.shared_files(mesh->shared_file());
      file = {shared.file_name(), shared.data()};
    }
    if (const auto found = kept.find(mesh->file()); mesh->has_file() && found != kept.end()) file = found->second;
  });
  return files;
}

class RandomScenes {
 public:
  explicit RandomScenes(unsigned seed) : random_(seed) {}
  // Few contents, so that many are the same; some shared files that no mesh has.
  v1::Scene Next() {
    v1::Scene scene;
    for (int i = Below(4); i > 0; --i) Fill(scene.add_shared_files());
    for (int i = Below(8); i > 0; --i) {
      v1::Body& body = *scene.add_bodies();
      switch (Below(4)) {
        case 0:
          Set(scene.shared_files_size(), body.mutable_static_body()->mutable_surface());
          break;
        case 1:
          Set(scene.shared_files_size(), body.mutable_kinematic()->mutable_surface());
          break;
        case 2:
          Set(scene.shared_files_size(), body.mutable_embedded()->mutable_surface());
          if (Below(2) == 0) Set(scene.shared_files_size(), body.mutable_embedded()->mutable_cage_mesh());
          break;
        default:
          break;  // without a mesh
      }
    }
    return scene;
  }

 private:
  int Below(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)); }
  void Fill(v1::MeshFile* file) {
    file->set_file_name(std::string(1, static_cast<char>('a' + Below(2))) + ".obj");
    file->set_data(std::string(static_cast<size_t>(Below(3)), static_cast<char>('x' + Below(2))));
  }
  void Set(int shared_files, v1::Mesh* mesh) {
    switch (Below(6)) {
      case 0:
        return Fill(mesh->mutable_contents());
      case 1:
      case 2:
        if (shared_files > 0) mesh->set_shared_file(Below(shared_files));
        return;
      case 3:
        return mesh->set_file(Below(2) == 0 ? "upload:1" : "upload:2");
      case 4:
        return mesh->set_file("elsewhere.obj");
      default:
        return;  // unset
    }
  }
  std::mt19937 random_;
};

void ExpectEveryContentOnce(const v1::Scene& scene) {
  std::multiset<File> held;
  std::map<int, int> uses;
  v1::Scene copy = scene;
  ForEachMesh(&copy, [&](v1::Mesh* mesh, const std::string&) {
    if (mesh->has_contents()) held.insert({mesh->contents().file_name(), mesh->contents().data()});
    if (mesh->has_shared_file()) ++uses[mesh->shared_file()];
  });
  for (const v1::MeshFile& file : scene.shared_files()) held.insert({file.file_name(), file.data()});
  EXPECT_EQ(std::set<File>(held.begin(), held.end()).size(), held.size());
  for (int i = 0; i < scene.shared_files_size(); ++i) EXPECT_GE(uses[i], 2) << "what one mesh has alone is its own";
}

TEST(ShareContents, EveryMeshHasTheSameFileAsBeforeAndEveryContentIsHeldOnce) {
  const Kept kept = {{"upload:1", {"a.obj", "x"}}, {"upload:2", {"c.obj", "zz"}}};
  RandomScenes scenes(7);
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(round);
    v1::Scene scene = scenes.Next();
    const auto before = Resolve(kept, scene);
    ASSERT_TRUE(ShareContents(FindIn(kept), nullptr, &scene).ok());
    EXPECT_EQ(Resolve({}, scene), before) << "without what is kept elsewhere";
    ExpectEveryContentOnce(scene);
    v1::Scene again = scene;
    ASSERT_TRUE(ShareContents(FindIn({}), nullptr, &again).ok());
    EXPECT_EQ(again.SerializeAsString(), scene.SerializeAsString());
    if (HasFailure()) return;
  }
}

TEST(ShareContents, SharedFilesThatNoMeshHasGo) {
  v1::Scene scene;
  scene.add_shared_files()->set_data("of nobody");
  scene.add_bodies();
  ASSERT_TRUE(ShareContents(FindIn({}), nullptr, &scene).ok());
  EXPECT_EQ(scene.shared_files_size(), 0);
}

TEST(ShareContents, SaysWhichMeshNamesNothing) {
  for (const int index : {-1, 1, 1 << 30}) {
    v1::Scene scene;
    scene.add_shared_files();
    scene.add_bodies()->mutable_static_body()->mutable_surface()->set_shared_file(index);
    const absl::Status status = ShareContents(FindIn({}), nullptr, &scene);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("bodies[0].static_body.surface.shared_file: is "));
  }
  v1::Scene scene;
  scene.add_bodies()->mutable_static_body()->mutable_surface()->set_file("gone");
  EXPECT_THAT(std::string(ShareContents(FindIn({}), nullptr, &scene).message()), HasSubstr("(bodies[0].static_body.surface"));
}

// Ten thousand bodies that name a large upload must not mean ten thousand comparisons of its content. Here it cannot be read at all
// while they are compared: reading it would end the test with a signal.
TEST(ShareContents, LooksAtTheContentOfAKeptFileOnceHoweverManyMeshesNameIt) {
  const size_t bytes = 1 << 16;
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  std::memset(pages, 'x', bytes);
  const FindKeptFile find = [&](const std::string& reference) -> absl::StatusOr<std::optional<KeptFile>> {
    if (reference == "close") mprotect(pages, bytes, PROT_NONE);
    if (reference == "open") mprotect(pages, bytes, PROT_READ);
    if (reference != "large") return std::optional<KeptFile>();
    return std::optional<KeptFile>(KeptFile{nullptr, "a.obj", {static_cast<const char*>(pages), bytes}});
  };
  v1::Scene scene;
  const auto add = [&](const char* file) { scene.add_bodies()->mutable_static_body()->mutable_surface()->set_file(file); };
  add("large");
  add("close");
  for (int i = 0; i < 100; ++i) add("large");
  add("open");
  ASSERT_TRUE(ShareContents(find, nullptr, &scene).ok());
  EXPECT_EQ(scene.shared_files_size(), 1);
  EXPECT_EQ(scene.shared_files(0).data().size(), bytes);
  munmap(pages, bytes);
}

}  // namespace
}  // namespace eipc
