#include "server/rpc/handlers/cage_worker.h"

#include <cstdio>
#include <iostream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "server/convert/scene_convert.h"
#include "server/convert/scene_meshes.h"
#include "server/session/child_process.h"
#include "sim/base/status_macros.h"
#include "sim/scene/compile_body.h"

namespace eipc::rpc {
namespace {

constexpr size_t kMaxOutput = size_t{256} << 20;
constexpr char kBodyPath[] = "bodies[0]";
// The child's word for "the scene is at fault", as opposed to the child.
constexpr char kProblem[] = "PROBLEM ";

bool WantsCage(const BodySpec& body) {
  if (body.kind != BodyKind::kEmbedded) return false;
  return (!body.cage && body.cage_vertices > 0) || (body.calibration && body.calibration->measured());
}

}  // namespace

absl::Status MakeCagesInChild(const std::string& program, const v1::Scene& scene, const StepBudget& budget, SceneSpec* spec) {
  for (size_t i = 0; i < spec->bodies.size(); ++i) {
    BodySpec& body = spec->bodies[i];
    if (!WantsCage(body) || static_cast<int>(i) >= scene.bodies_size()) continue;
    v1::Scene one;
    *one.add_bodies() = scene.bodies(static_cast<int>(i));
    // As read and scaled: the child needs no files.
    MeshToProto(body.mesh, one.mutable_bodies(0)->mutable_embedded()->mutable_surface());
    if (body.cage) MeshToProto(*body.cage, one.mutable_bodies(0)->mutable_embedded()->mutable_cage_mesh());
    EIPC_ASSIGN_OR_RETURN(const std::string output,
                          RunChild({program, "--cage-worker"}, one.SerializeAsString(), kMaxOutput, budget));
    if (output.rfind(kProblem, 0) == 0) {
      return absl::InvalidArgumentError(
          absl::StrReplaceAll(output.substr(sizeof(kProblem) - 1), {{kBodyPath, absl::StrCat("bodies[", i, "]")}}));
    }
    if (!one.ParseFromString(output) || one.bodies_size() != 1)
      return absl::InternalError("the cage worker's answer cannot be read");
    Problems problems;
    EIPC_ASSIGN_OR_RETURN(SceneSpec caged, SceneFromProto(one, MeshResolver({"", "", true}), &problems));
    if (!problems.empty() || !caged.bodies[0].cage) return absl::InternalError("the cage worker's answer makes no sense");
    body.cage = std::move(caged.bodies[0].cage);
    body.calibration = caged.bodies[0].calibration;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> CageWorker(const std::string& input) {
  v1::Scene scene;
  if (!scene.ParseFromString(input) || scene.bodies_size() != 1)
    return absl::InvalidArgumentError("the input is no scene of one body");
  Problems problems;
  EIPC_ASSIGN_OR_RETURN(const SceneSpec spec, SceneFromProto(scene, MeshResolver({"", "", true}), &problems));
  const CompiledBody body = problems.empty() ? CompileBody(spec.bodies[0], kBodyPath, &problems) : CompiledBody();
  if (!problems.empty()) return absl::StrCat(kProblem, absl::StrJoin(problems.lines(), "\n"));
  MeshData cage;
  cage.vertices = body.node_authored;
  cage.tets = body.elastic.nodes;
  MeshToProto(cage, scene.mutable_bodies(0)->mutable_embedded()->mutable_cage_mesh());
  if (body.calibration) {
    v1::CageCalibration& calibration = *scene.mutable_bodies(0)->mutable_embedded()->mutable_calibration();
    calibration.set_youngs_scale(*body.calibration->youngs_scale);
    calibration.set_poissons_ratio(*body.calibration->poissons_ratio);
  }
  return scene.SerializeAsString();
}

int RunCageWorker() {
  const std::string input((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  const absl::StatusOr<std::string> output = CageWorker(input);
  if (!output.ok()) {
    std::fprintf(stderr, "%s\n", std::string(output.status().message()).c_str());
    return 1;
  }
  return std::fwrite(output->data(), 1, output->size(), stdout) == output->size() && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace eipc::rpc
