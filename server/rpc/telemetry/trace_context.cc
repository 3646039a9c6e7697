#include "server/rpc/telemetry/trace_context.h"

#include <atomic>
#include <random>

#include "absl/strings/str_cat.h"

namespace eipc::rpc {
namespace {

// Exactly `text.size()` lower-case hex digits, at most 16.
std::optional<uint64_t> Hex(absl::string_view text) {
  uint64_t value = 0;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c >= 'a' && c <= 'f')) return std::nullopt;
    value = value << 4 | static_cast<uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  return value;
}

// A bijection that scatters its argument (splitmix64, Steele et al. 2014): what is counted up becomes random and is never repeated.
uint64_t Scattered(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

uint64_t RandomSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

uint64_t NextId() {
  static std::atomic<uint64_t> next(RandomSeed());
  while (true) {
    const uint64_t id = Scattered(next.fetch_add(0x9e3779b97f4a7c15ull, std::memory_order_relaxed));
    if (id != 0) return id;
  }
}

}  // namespace

std::string TraceContext::TraceId() const { return absl::StrCat(SpanIdText(trace_high), SpanIdText(trace_low)); }

// version "-" trace-id "-" parent-id "-" trace-flags, of 2, 32, 16 and 2 digits; later versions may continue after another "-".
std::optional<TraceContext> ParseTraceparent(absl::string_view header) {
  constexpr size_t kSize = 55;
  if (header.size() < kSize || header[2] != '-' || header[35] != '-' || header[52] != '-') return std::nullopt;
  const auto version = Hex(header.substr(0, 2)), high = Hex(header.substr(3, 16)), low = Hex(header.substr(19, 16));
  const auto parent = Hex(header.substr(36, 16)), flags = Hex(header.substr(53, 2));
  if (!version || !high || !low || !parent || !flags || *version == 0xff) return std::nullopt;
  if (header.size() > kSize && (*version == 0 || header[kSize] != '-')) return std::nullopt;
  if ((*high == 0 && *low == 0) || *parent == 0) return std::nullopt;
  return TraceContext{*high, *low, *parent, (*flags & 1) != 0};
}

TraceContext NewTrace() { return {NextId(), NextId(), 0, true}; }

uint64_t NewSpanId() { return NextId(); }

std::string SpanIdText(uint64_t id) { return absl::StrCat(absl::Hex(id, absl::kZeroPad16)); }

}  // namespace eipc::rpc
