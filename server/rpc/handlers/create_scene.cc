#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/convert/name_defaults.h"
#include "server/convert/scene_convert.h"
#include "server/convert/scene_digest.h"
#include "server/convert/scene_meshes.h"
#include "server/convert/share_contents.h"
#include "server/os/thread_scheduling.h"
#include "server/rpc/handlers/cage_worker.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/scene_info.h"
#include "sim/base/status_macros.h"
#include "sim/scene/compile_scene.h"

namespace eipc::rpc {
namespace {

// The problems of a scene, under a reason of their own.
absl::Status InvalidScene(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  return absl::InvalidArgumentError(absl::StrCat("SCENE_INVALID: the scene cannot be simulated:\n", status.message()));
}

// What a scene has many of takes time that grows with their square, in compiling and in looking them up by their names.
absl::Status CheckPartCounts(const v1::Scene& scene) {
  constexpr int64_t kMost = 4096;
  int64_t sets = 0, volumes = 0, links = 0;
  for (const v1::Body& body : scene.bodies()) {
    sets += body.boundary_sets_size();
    volumes += body.enclosed_volumes_size();
  }
  for (const v1::Robot& robot : scene.robots()) links += robot.links_size() + robot.joints_size();
  const std::pair<const char*, int64_t> counts[] = {{"joints", scene.joints_size()},
                                                    {"goals", scene.goals_size()},
                                                    {"bodies' boundary_sets", sets},
                                                    {"bodies' enclosed_volumes", volumes},
                                                    {"robots' links and joints", links}};
  for (const auto& [what, count] : counts) {
    if (count <= kMost) continue;
    return absl::ResourceExhaustedError(absl::StrCat("SCENE_TOO_LARGE: ", what, ": ", count, ", the server takes at most ", kMost));
  }
  return absl::OkStatus();
}

// What is read of a scene beside its meshes, and the lists and names that checking and compiling make of it, in the sizes of its
// message: a joint of 200 bytes there has 600 in the specification and a thousand in the model.
int64_t PartsBytes(v1::Scene* scene) {
  constexpr int64_t kSizes = 4;
  auto bytes = static_cast<int64_t>(scene->SpaceUsedLong());
  for (const v1::MeshFile& file : scene->shared_files()) bytes -= static_cast<int64_t>(file.data().size());
  ForEachMesh(scene, [&bytes](const v1::Mesh* mesh, const std::string&) {
    bytes -= static_cast<int64_t>(mesh->contents().data().size() + mesh->arrays().vertices().data().size() +
                                  mesh->arrays().cells().data().size());
  });
  return kSizes * std::max<int64_t>(bytes, 0);
}

// Uploads by the references of one tenant.
FindKeptFile UploadsOf(Services& services, const std::string& tenant) {
  return [&services, tenant](const std::string& reference) -> absl::StatusOr<std::optional<KeptFile>> {
    if (!absl::StartsWith(reference, kUploadPrefix)) return std::optional<KeptFile>();
    EIPC_ASSIGN_OR_RETURN(const std::shared_ptr<const UploadedMesh> upload, services.uploads.Find(tenant, reference));
    return std::optional<KeptFile>(KeptFile{upload, upload->file_name, upload->data});
  };
}

void Say(OperationRegistry::Progress* progress, double done, const char* stage) {
  if (progress != nullptr) progress->Set(done, stage);
}

}  // namespace

absl::Status TakeUpload(Services& services, const std::string& tenant, const std::string& path, MemoryMeter* meter,
                        v1::Mesh* mesh) {
  if (mesh->source_case() != v1::Mesh::kFile || !absl::StartsWith(mesh->file(), kUploadPrefix)) return absl::OkStatus();
  const auto upload = services.uploads.Find(tenant, mesh->file());
  if (!upload.ok()) return absl::Status(upload.status().code(), absl::StrCat(upload.status().message(), " (", path, ")"));
  EIPC_RETURN_IF_ERROR(AddTo(meter, static_cast<int64_t>((*upload)->data.size())));
  mesh->mutable_contents()->set_file_name((*upload)->file_name);
  mesh->mutable_contents()->set_data((*upload)->data);
  return absl::OkStatus();
}

namespace {

// What a request makes: its message with every file in it, and what was read of it.
struct ReadScene {
  v1::Scene message;
  SceneSpec spec;
  Problems problems;
  std::string name;
  std::vector<std::string> former_names;
};

absl::StatusOr<ReadScene> ReadRequest(Services& services, const CallContext& context, const v1::Scene& scene,
                                      RequestMemory* memory) {
  EIPC_RETURN_IF_ERROR(CheckBodyCount(scene.bodies_size(), services.limits));
  EIPC_RETURN_IF_ERROR(CheckPartCounts(scene));
  EIPC_RETURN_IF_ERROR(memory->Add(static_cast<int64_t>(scene.SpaceUsedLong())));
  ReadScene read;
  read.message = scene;
  EIPC_RETURN_IF_ERROR(memory->Add(PartsBytes(&read.message)));
  // The scene then needs nothing else: neither recordings nor journals ask for uploads again.
  EIPC_RETURN_IF_ERROR(ShareContents(UploadsOf(services, context.tenant), memory, &read.message));
  // What is stored does not depend on which material and which coarse space later versions take where none is named.
  NameMaterials(kDefaultMaterial, &read.message);
  EIPC_ASSIGN_OR_RETURN(
      read.spec, SceneFromProto(read.message, services.meshes, &read.problems, {memory, services.limits.max_scene_vertices}));
  NameCoarseSpaces(read.spec, &read.message);
  EIPC_RETURN_IF_ERROR(CheckSceneSize(read.spec, services.limits));
  read.name = absl::StrCat(kScenePrefix, SceneDigest(read.message, read.spec));
  read.former_names = FormerSceneNames(read.spec, &read.message);
  return read;
}

// Keeps the scene, and sets aside what it holds in place of what making it took.
absl::Status StoreScene(Services& services, const CallContext& context, const ReadScene& read, std::shared_ptr<const Model> model,
                        RequestMemory* memory) {
  EIPC_RETURN_IF_ERROR(memory->Add(static_cast<int64_t>(read.message.ByteSizeLong())));
  StoredScene stored = {read.name, std::move(model), read.message.SerializeAsString(), context.tenant};
  EIPC_ASSIGN_OR_RETURN(MemoryBudget::Share share, memory->Keep(stored.EstimatedBytes()));
  EIPC_ASSIGN_OR_RETURN(KeptMemory kept, services.tenant_memory.Keep(context.tenant, std::move(share)));
  stored.former_names = read.former_names;
  stored.memory = std::make_shared<const KeptMemory>(std::move(kept));
  return services.AddScene(std::move(stored));
}

}  // namespace

absl::Status MakeScene(Services& services, const CallContext& context, const v1::CreateSceneRequest& request,
                       OperationRegistry::Progress* progress, v1::SceneInfo* response) {
  if (!request.has_scene()) return absl::InvalidArgumentError("INVALID_REQUEST: scene: missing");
  EIPC_RETURN_IF_ERROR(services.CheckOpen());
  Say(progress, 0, "waiting for its turn");
  const BatchScheduling turns;
  EIPC_ASSIGN_OR_RETURN(SolveSlots::Slot slot, services.compilations.Take(context.claim(), context.budget));
  Say(progress, 0.05, "reading meshes");
  RequestMemory memory(&services.memory, "the scene");
  EIPC_ASSIGN_OR_RETURN(ReadScene read, ReadRequest(services, context, request.scene(), &memory));
  if (const auto stored = services.scenes.Find(read.name, context.tenant); stored.ok() && read.problems.empty()) {
    FillSceneInfo(read.name, *(*stored)->model, false, response);
    return absl::OkStatus();
  }
  if (!request.validate_only()) {
    const auto bytes = static_cast<int64_t>(read.message.ByteSizeLong());
    EIPC_RETURN_IF_ERROR(services.scenes.CheckRoom(bytes, context.tenant));
    EIPC_RETURN_IF_ERROR(services.quotas.Check(context.tenant, Resource::kMemoryBytes, bytes));
  }
  EIPC_RETURN_IF_ERROR(memory.Add(EstimateCompileBytes(read.spec)));
  if (!services.cage_program.empty() && read.problems.empty() && WantsCages(read.spec)) {
    Say(progress, 0.1, "making cages");
    slot.Leave();  // others compile meanwhile
    EIPC_ASSIGN_OR_RETURN(const SolveSlots::Slot job, services.jobs.Take(context.claim(), context.budget));
    EIPC_RETURN_IF_ERROR(InvalidScene(
        MakeCagesInChild(services.cage_program, read.message, context.budget, services.LimitsOfChildren(&memory), &read.spec)));
    EIPC_ASSIGN_OR_RETURN(slot, services.compilations.Take(context.claim(), context.budget));
  }
  Say(progress, 0.7, "compiling");
  absl::StatusOr<std::shared_ptr<const Model>> model = CompileScene(read.spec, std::move(read.problems), context.budget);
  if (!model.ok()) return InvalidScene(model.status());
  FillSceneInfo(read.name, **model, false, response);
  return request.validate_only() ? absl::OkStatus() : StoreScene(services, context, read, *std::move(model), &memory);
}

absl::Status CreateScene(Services& services, const CallContext& context, const v1::CreateSceneRequest& request,
                         v1::SceneInfo* response) {
  return MakeScene(services, context, request, nullptr, response);
}

}  // namespace eipc::rpc
