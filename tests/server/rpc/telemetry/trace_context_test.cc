#include "server/rpc/telemetry/trace_context.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace eipc::rpc {
namespace {

constexpr char kHeader[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

std::string With(size_t at, const std::string& text) {
  std::string header = kHeader;
  return header.replace(at, text.size(), text);
}

TEST(Traceparent, IsRead) {
  const auto trace = ParseTraceparent(kHeader);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->TraceId(), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(SpanIdText(trace->parent), "b7ad6b7169203331");
  EXPECT_TRUE(trace->sampled);
  EXPECT_FALSE(ParseTraceparent(With(53, "00"))->sampled);
  EXPECT_TRUE(ParseTraceparent(With(53, "ff"))->sampled) << "flags of later versions are ignored";
  EXPECT_TRUE(ParseTraceparent(With(3, "0000000000000000"))) << "half of the id may be zero";
}

TEST(Traceparent, OfLaterVersionsMayGoOn) {
  EXPECT_TRUE(ParseTraceparent(With(0, "01")));
  EXPECT_TRUE(ParseTraceparent(With(0, "cc") + "-what-the-future-will-be-like"));
  EXPECT_FALSE(ParseTraceparent(With(0, "cc") + ".what-the-future-will-not-be-like"));
  EXPECT_FALSE(ParseTraceparent(std::string(kHeader) + "-more"));
}

TEST(Traceparent, ThatIsMalformedIsNone) {
  const std::string whole = kHeader;
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(ParseTraceparent(whole.substr(0, size))) << size;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char* bad : {"g", "A", " ", "\n", "\x80", "+"}) EXPECT_FALSE(ParseTraceparent(With(at, bad))) << at << bad;
  }
  EXPECT_FALSE(ParseTraceparent(With(0, "ff"))) << "no such version";
  EXPECT_FALSE(ParseTraceparent(With(3, std::string(32, '0')))) << "no such trace";
  EXPECT_FALSE(ParseTraceparent(With(36, std::string(16, '0')))) << "no such span";
}

TEST(TraceIds, AreNeverRepeated) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 10000; ++i) {
    EXPECT_TRUE(seen.insert(NewSpanId()).second);
    const TraceContext trace = NewTrace();
    EXPECT_TRUE(trace.sampled);
    EXPECT_EQ(trace.parent, 0u);
    EXPECT_EQ(trace.TraceId().size(), 32u);
    EXPECT_TRUE(seen.insert(trace.trace_low).second);
  }
}

}  // namespace
}  // namespace eipc::rpc
