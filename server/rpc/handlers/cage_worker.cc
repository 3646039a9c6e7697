#include "server/rpc/handlers/cage_worker.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/convert/scene_convert.h"
#include "server/convert/scene_meshes.h"
#include "server/os/child_process.h"
#include "sim/base/status_macros.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/compile_body.h"

namespace eipc::rpc {
namespace {

constexpr char kBodyPath[] = "bodies[0]";
// The child's word for "the scene is at fault", as opposed to the child.
constexpr char kProblem[] = "PROBLEM ";

bool WantsCage(const BodySpec& body) {
  if (!RowOf(body.kind).has_cage) return false;
  return (!body.cage && body.cage_vertices > 0) || (body.calibration && body.calibration->measured());
}

// All of a body but its meshes.
v1::Body WithoutFiles(const v1::Body& body) {
  v1::Body rest;
  rest.set_name(body.name());
  *rest.mutable_pose() = body.pose();
  *rest.mutable_material() = body.material();
  v1::EmbeddedBody& embedded = *rest.mutable_embedded();
  if (body.embedded().cage_case() == v1::EmbeddedBody::kCageVertices) embedded.set_cage_vertices(body.embedded().cage_vertices());
  if (body.embedded().has_calibration()) *embedded.mutable_calibration() = body.embedded().calibration();
  embedded.set_coarse_space(v1::EmbeddedBody::PLAIN);  // which cage is made does not depend on it
  return rest;
}

}  // namespace

bool WantsCages(const SceneSpec& spec) { return std::any_of(spec.bodies.begin(), spec.bodies.end(), WantsCage); }

absl::Status MakeCagesInChild(const std::string& program, const v1::Scene& scene, const StepBudget& budget,
                              const ChildLimits& limits, SceneSpec* spec) {
  for (size_t i = 0; i < spec->bodies.size(); ++i) {
    BodySpec& body = spec->bodies[i];
    if (!WantsCage(body) || static_cast<int>(i) >= scene.bodies_size()) continue;
    // The message, the bytes that are sent, and what comes back.
    EIPC_RETURN_IF_ERROR(AddTo(limits.meter, 3 * (body.mesh.bytes() + (body.cage ? body.cage->bytes() : 0))));
    v1::Scene one;
    *one.add_bodies() = WithoutFiles(scene.bodies(static_cast<int>(i)));
    // As read and scaled: the child needs no files.
    MeshToProto(body.mesh, one.mutable_bodies(0)->mutable_embedded()->mutable_surface());
    if (body.cage) MeshToProto(*body.cage, one.mutable_bodies(0)->mutable_embedded()->mutable_cage_mesh());
    EIPC_ASSIGN_OR_RETURN(const std::string output, RunChild({program, "--cage-worker"}, one.SerializeAsString(), limits, budget));
    if (output.rfind(kProblem, 0) == 0) {
      return absl::InvalidArgumentError(
          absl::StrReplaceAll(output.substr(sizeof(kProblem) - 1), {{kBodyPath, absl::StrCat("bodies[", i, "]")}}));
    }
    if (!one.ParseFromString(output) || one.bodies_size() != 1)
      return absl::InternalError("the cage worker's answer cannot be read");
    Problems problems;
    EIPC_ASSIGN_OR_RETURN(SceneSpec caged, SceneFromProto(one, MeshResolver({"", "", true}), &problems, {limits.meter}));
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
  if (!problems.empty()) return absl::StrCat(kProblem, problems.ToStatus().message());
  // An authored cage stays as it is: boundary sets count its vertices, those that no tetrahedron uses included.
  if (!spec.bodies[0].cage) {
    MeshData cage;
    cage.vertices = body.node_authored;
    cage.tets = body.elastic.nodes;
    MeshToProto(cage, scene.mutable_bodies(0)->mutable_embedded()->mutable_cage_mesh());
  }
  if (body.calibration) {
    v1::CageCalibration& calibration = *scene.mutable_bodies(0)->mutable_embedded()->mutable_calibration();
    calibration.set_youngs_scale(*body.calibration->youngs_scale);
    calibration.set_poissons_ratio(*body.calibration->poissons_ratio);
  }
  return scene.SerializeAsString();
}

int RunCageWorker() {
  const std::string input((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  try {
    const absl::StatusOr<std::string> output = CageWorker(input);
    if (!output.ok()) {
      std::fprintf(stderr, "%s\n", std::string(output.status().message()).c_str());
      return 1;
    }
    return std::fwrite(output->data(), 1, output->size(), stdout) == output->size() && std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const std::bad_alloc&) {
    return kOutOfMemoryExit;
  }
}

}  // namespace eipc::rpc
