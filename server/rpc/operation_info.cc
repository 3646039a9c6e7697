#include "server/rpc/operation_info.h"

#include <string>

#include "server/rpc/reason.h"

namespace eipc::rpc {

void FillOperation(const OperationRegistry::View& view, v1::Operation* out) {
  out->set_name(view.name);
  out->set_kind(view.kind);
  out->set_done(view.done);
  out->set_progress(view.progress);
  out->set_stage(view.stage);
  if (!view.done) return;
  const absl::Status status = ForWire(view.status);
  out->set_status_code(static_cast<int>(status.code()));
  out->set_status_message(std::string(status.message()));
  if (!status.ok()) return;
  if (view.kind == kCreateSceneKind) (void)out->mutable_scene()->ParseFromString(view.result);
  if (view.kind == kPrepareMeshKind) (void)out->mutable_prepared()->ParseFromString(view.result);
  if (view.kind == kStepBatchKind) (void)out->mutable_batch()->ParseFromString(view.result);
}

}  // namespace eipc::rpc
