#include "server/rpc/listen/viewer.h"

#include <atomic>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/listen/listen_address.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

bool IsOrigin(absl::string_view text) {
  for (const absl::string_view scheme : {"https://", "http://"}) {
    if (!absl::StartsWith(text, scheme)) continue;
    const absl::string_view host = text.substr(scheme.size());
    return !host.empty() && host.find_first_of("/?#@ ") == absl::string_view::npos;
  }
  return false;
}

// Work of a page, which counts as that of a viewer whatever its caller may do. The pass is given back when the work is over, or
// cannot be done.
bool RunAmongCalls(CallHost* calls, const std::string& tenant, std::function<void()> work) {
  auto refused = std::make_shared<std::atomic<bool>>(false);
  calls->calls_gate.Enter(tenant, true, [calls, refused, work = std::move(work)](CallGate::Place place) {
    const auto held = std::make_shared<CallGate::Place>(std::move(place));
    if (calls->threads.Post([held, work] { work(); })) return;
    *refused = true;
    held->Leave();
  });
  return !*refused;
}

}  // namespace

absl::Status Viewer::Check(const GrpcServerOptions& options) {
  if (options.viewer.empty()) return absl::OkStatus();
  const absl::StatusOr<ListenAddress> address = ParseListenAddress(options.viewer);
  if (!address.ok() || !address->path.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--viewer ", options.viewer, ": must be HOST:PORT, for example 127.0.0.1:50080"));
  }
  if (!address->loopback) {
    return absl::InvalidArgumentError(
        absl::StrCat("--viewer ", options.viewer,
                     ": only loopback addresses are served (127.0.0.1, [::1], localhost); put a proxy with TLS "
                     "in front and name it with --viewer-origin, or tunnel to the server (ssh -L)"));
  }
  for (const std::string& origin : options.viewer_origins) {
    if (!IsOrigin(origin)) {
      return absl::InvalidArgumentError(absl::StrCat("--viewer-origin ", origin, ": must be https://HOST[:PORT], without a path"));
    }
    if (options.access_file.empty()) {
      return absl::InvalidArgumentError("--viewer-origin: behind a proxy callers must be known; give --access-file");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Viewer>> Viewer::Start(const GrpcServerOptions& options, CallHost* calls) {
  if (options.viewer.empty()) return std::unique_ptr<Viewer>();
  EIPC_ASSIGN_OR_RETURN(const ListenAddress address, ParseListenAddress(options.viewer));
  ViewTransport::Options transport_options;
  transport_options.host = address.host;
  transport_options.port = address.port;
  EIPC_ASSIGN_OR_RETURN(std::unique_ptr<ViewTransport> transport, ViewTransport::Listen(transport_options));
  const int port = transport->port();
  std::unique_ptr<Viewer> viewer(new Viewer(std::move(transport), absl::StrCat("http://", address.host, ":", port, "/")));
  auto host = std::make_shared<ViewHost>();
  host->services = &calls->services;
  host->audit = calls->audit;
  host->events = calls->options.events;
  host->identified = calls->access != nullptr;
  host->run = [calls](const std::string& tenant, std::function<void()> work) {
    return RunAmongCalls(calls, tenant, std::move(work));
  };
  host->draining = [calls] { return calls->open.draining(); };
  ViewPage page = ViewPage::Load(options.viewer_page);
  viewer->built_ = page.built();
  ViewAccess::Options access;
  access.access = calls->access;
  access.port = port;
  access.origins = options.viewer_origins;
  auto site = std::make_unique<StandardViewSite>(std::move(host), std::move(page), std::move(access));
  viewer->site_ = site.get();
  viewer->transport_->Serve(std::move(site));
  if (options.on_viewer) options.on_viewer(viewer->url(), viewer->built());
  return viewer;
}

void Viewer::AddGauges(const Viewer* viewer, const LiveFeeds& feeds, std::map<std::string, double>* values) {
  (*values)["eipc_viewer_sockets"] = viewer == nullptr ? 0 : viewer->sockets();
  (*values)["eipc_viewer_frames"] = static_cast<double>(feeds.made());
  (*values)["eipc_viewer_frames_dropped"] = static_cast<double>(feeds.dropped());
}

}  // namespace eipc::rpc
