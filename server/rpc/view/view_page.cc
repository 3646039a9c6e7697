#include "server/rpc/view/view_page.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/status/statusor.h"
#include "server/os/files.h"

namespace eipc::rpc {
namespace {

namespace fs = std::filesystem;

constexpr char kNotBuilt[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>eipc</title>"
    "<p>This server runs, but its viewer was not built. <code>./dev viewer</code> builds it and needs Node.js 18 or later with npm "
    "(<code>./dev setup viewer</code>); start the server again then, or name the folder of a built page with "
    "<code>--viewer-page</code>.</p></html>";

std::vector<fs::path> Places() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {};
  return {program / "../viz/live", program / "../../../client/python/eipc/viz/live", program / "../share/eipc/viewer"};
}

std::string ReadOrNothing(const fs::path& path) {
  absl::StatusOr<std::string> text = ReadWholeFile(path);
  return text.ok() ? *std::move(text) : std::string();
}

}  // namespace

ViewPage ViewPage::Load(const std::string& folder) {
  ViewPage page;
  for (const fs::path& place : folder.empty() ? Places() : std::vector<fs::path>{folder}) {
    page.html_ = ReadOrNothing(place / "index.html");
    page.script_ = ReadOrNothing(place / "viewer.js");
    page.style_ = ReadOrNothing(place / "viewer.css");
    if (!page.html_.empty() && page.built() && !page.style_.empty()) return page;
  }
  page = ViewPage();
  page.html_ = kNotBuilt;
  return page;
}

bool ViewPage::Answer(const std::string& path, ViewReply* reply) const {
  if (path == "/") {
    reply->type = "text/html; charset=utf-8";
    reply->body = html_;
    return true;
  }
  if (!built()) return false;
  if (path == "/viewer.js") {
    reply->type = "text/javascript; charset=utf-8";
    reply->body = script_;
    return true;
  }
  if (path != "/viewer.css") return false;
  reply->type = "text/css; charset=utf-8";
  reply->body = style_;
  return true;
}

void AddSafetyHeaders(ViewReply* reply) {
  reply->headers.insert(reply->headers.end(),
                        {{"Content-Security-Policy",
                          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
                          "media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
                         {"X-Content-Type-Options", "nosniff"},
                         {"X-Frame-Options", "DENY"},
                         {"Referrer-Policy", "no-referrer"},
                         {"Cross-Origin-Opener-Policy", "same-origin"},
                         {"Cross-Origin-Resource-Policy", "same-origin"},
                         {"Cache-Control", "no-store"}});
}

}  // namespace eipc::rpc
