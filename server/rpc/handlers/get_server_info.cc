#include <limits>
#include <string>

#include "server/rpc/handlers/calls.h"
#include "server/session/build_id.h"

namespace eipc::rpc {

namespace {

void FillQuotas(const Services& services, const std::string& tenant, v1::TenantQuotas* out) {
  const auto fill = [&](Resource resource, v1::TenantQuotas::Quota* quota) {
    const int64_t limit = services.quotas.limit(resource);
    if (limit < std::numeric_limits<int64_t>::max()) quota->set_limit(limit);
    quota->set_used(services.quotas.held(tenant, resource));
  };
  fill(Resource::kSessions, out->mutable_sessions());
  fill(Resource::kScenes, out->mutable_scenes());
  fill(Resource::kUploadBytes, out->mutable_upload_bytes());
  fill(Resource::kSnapshots, out->mutable_snapshots());
  fill(Resource::kSnapshotBytes, out->mutable_snapshot_bytes());
  fill(Resource::kOperations, out->mutable_operations());
  fill(Resource::kRecordingBytes, out->mutable_recording_bytes());
  fill(Resource::kMemoryBytes, out->mutable_memory_bytes());
  fill(Resource::kJobs, out->mutable_jobs());
  out->mutable_jobs()->set_used(services.jobs.held(tenant));
}

}  // namespace

absl::Status GetServerInfo(Services& services, const CallContext& context, const v1::GetServerInfoRequest&,
                           v1::ServerInfo* response) {
  const ServerLimits& limits = services.limits;
  response->set_version(EIPC_VERSION);
  response->set_build(BuildId());
  for (const char* ability :
       {"snapshots", "fork", "step_batch", "stacked_batch", "reset_materials", "reset_friction", "trajectories", "step_receipt",
        "cameras", "stacked_cameras", "recordings", "uploads", "operations", "prepare_mesh", "prepare_shell"}) {
    response->add_capabilities(ability);
  }
  response->set_journal(services.journal != nullptr);
  if (services.journal != nullptr) {
    response->set_journal_sync_interval_s(std::chrono::duration<double>(services.journal->options().sync_interval).count());
  }
  FillQuotas(services, context.tenant, response->mutable_quotas());
  v1::ServerLimits& out = *response->mutable_limits();
  out.set_max_sessions(limits.max_sessions);
  out.set_max_scenes(limits.max_scenes);
  out.set_max_worlds_per_session(limits.max_worlds_per_session);
  out.set_max_threads_per_session(limits.max_threads_per_session);
  out.set_max_substeps(limits.max_substeps);
  out.set_max_message_bytes(int64_t{limits.max_message_mib} << 20);
  out.set_max_scene_vertices(limits.max_scene_vertices);
  out.set_max_bodies(limits.max_bodies);
  out.set_max_snapshots(limits.max_snapshots);
  out.set_max_snapshot_bytes(limits.max_snapshot_bytes);
  out.set_max_upload_bytes(limits.most_upload_bytes());
  out.set_memory_bytes(limits.memory_bytes);
  out.set_session_memory_bytes(limits.session_memory_bytes);
  out.set_solve_slots(limits.solve_slots);
  out.set_max_waiting_solves(limits.max_waiting_solves);
  out.set_max_recording_bytes(limits.max_recording_bytes);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
