#ifndef EIPC_SERVER_RPC_HANDLERS_DRAW_CAMERAS_H_
#define EIPC_SERVER_RPC_HANDLERS_DRAW_CAMERAS_H_

#include "absl/status/status.h"
#include "eipc/v1/observation.pb.h"
#include "server/convert/observation_convert.h"
#include "server/rpc/handlers/call_context.h"
#include "server/rpc/handlers/services.h"

namespace eipc::rpc {

// Before the world moves: sets aside what the plan's pictures of it take in the answer, and makes what drawing them needs. The
// errors of CallContext::TakePictures and SessionCameras::Prepare.
absl::Status PrepareCameras(Services& services, const CallContext& context, const SessionRegistry::Lease& session, int world,
                            const ObservationPlan& plan);

// Adds the plan's pictures of a world to its observation, in a solve slot. The world may have moved already, so what keeps a
// picture from being drawn, as the end of the call, is said in the picture.
void DrawCameras(Services& services, const CallContext& context, const SessionRegistry::Lease& session, int world,
                 const ObservationPlan& plan, v1::Observation* out);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_DRAW_CAMERAS_H_
