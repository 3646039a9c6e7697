#include "server/rpc/handlers/reason.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/session/queue_full.h"
#include "sim/base/utf8.h"

namespace eipc::rpc {
namespace {

// gRPC refuses metadata beyond 8 KiB, and escapes all but printable ASCII into three bytes.
constexpr size_t kMaxText = 3500;
constexpr size_t kMaxEscaped = 7000;

size_t EscapedBytes(absl::string_view text) {
  size_t bytes = 0;
  for (const char c : text) bytes += c >= 0x20 && c < 0x7f && c != '%' ? 1 : 3;
  return bytes;
}

// The longest beginning of whole characters that fits.
size_t FittingBytes(absl::string_view text) {
  size_t kept = 0, escaped = 0;
  while (kept < text.size()) {
    const size_t character = std::max<size_t>(1, Utf8CharacterBytes(text.substr(kept)));
    escaped += EscapedBytes(text.substr(kept, character));
    if (kept + character > kMaxText || escaped > kMaxEscaped) break;
    kept += character;
  }
  return kept;
}

bool HasReason(absl::string_view text) {
  const size_t colon = text.find(": ");
  if (colon == absl::string_view::npos || colon == 0 || !absl::ascii_isupper(text[0])) return false;
  for (const char c : text.substr(0, colon)) {
    if (!absl::ascii_isupper(c) && !absl::ascii_isdigit(c) && c != '_') return false;
  }
  return true;
}

std::string Shortened(std::string text) {
  const size_t fitting = FittingBytes(text);
  if (fitting == text.size()) return text;
  const size_t line_end = text.rfind('\n', fitting);
  const size_t keep = line_end == std::string::npos || line_end == 0 ? fitting : line_end;
  int lines = 0;
  for (size_t i = keep + 1; i < text.size(); ++i) lines += text[i] == '\n' ? 1 : 0;
  text.resize(keep);
  return absl::StrCat(text, "\n... and ", lines + 1, " more lines");
}

}  // namespace

absl::Status ForWire(const absl::Status& status) {
  if (status.ok()) return status;
  std::string text = ToUtf8(status.message());
  if (!HasReason(text)) text = absl::StrCat(absl::StatusCodeToString(status.code()), ": ", text);
  return Reworded(status, Shortened(std::move(text)));
}

}  // namespace eipc::rpc
