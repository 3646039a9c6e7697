#include "server/rpc/handlers/reason.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/session/queue_full.h"

namespace eipc::rpc {
namespace {

// gRPC refuses metadata beyond 8 KiB, and escapes some bytes into three.
constexpr size_t kMaxText = 3500;

bool HasReason(absl::string_view text) {
  const size_t colon = text.find(": ");
  if (colon == absl::string_view::npos || colon == 0 || !absl::ascii_isupper(text[0])) return false;
  for (const char c : text.substr(0, colon)) {
    if (!absl::ascii_isupper(c) && !absl::ascii_isdigit(c) && c != '_') return false;
  }
  return true;
}

std::string Shortened(std::string text) {
  if (text.size() <= kMaxText) return text;
  const size_t line_end = text.rfind('\n', kMaxText);
  const size_t keep = line_end == std::string::npos || line_end == 0 ? kMaxText : line_end;
  int lines = 0;
  for (size_t i = keep + 1; i < text.size(); ++i) lines += text[i] == '\n' ? 1 : 0;
  text.resize(keep);
  return absl::StrCat(text, "\n... and ", lines + 1, " more lines");
}

}  // namespace

absl::Status ForWire(const absl::Status& status) {
  if (status.ok()) return status;
  std::string text(status.message());
  if (!HasReason(text)) text = absl::StrCat(absl::StatusCodeToString(status.code()), ": ", text);
  return Reworded(status, Shortened(std::move(text)));
}

}  // namespace eipc::rpc
