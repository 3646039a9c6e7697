#ifndef EIPC_TESTS_SUPPORT_SCENE_PROBLEMS_H_
#define EIPC_TESTS_SUPPORT_SCENE_PROBLEMS_H_

// What CompileScene finds wrong with a scene, for tests of its checks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "sim/scene/compile_scene.h"

namespace eipc::testing {

// One line for each problem, "PATH: what is wrong"; empty when the scene compiles. `found`: problems that were known before.
inline std::vector<std::string> ProblemsOf(const SceneSpec& scene, Problems found = {}) {
  const auto model = CompileScene(scene, std::move(found));
  if (model.ok()) return {};
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
  return absl::StrSplit(std::string(model.status().message()), '\n');
}

// The scene's one problem is at `path`, and its line contains `what`.
inline void ExpectOnly(const SceneSpec& scene, const std::string& path, const std::string& what) {
  EXPECT_THAT(ProblemsOf(scene),
              ::testing::ElementsAre(::testing::AllOf(::testing::StartsWith(path + ": "), ::testing::HasSubstr(what))))
      << path;
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_SCENE_PROBLEMS_H_
