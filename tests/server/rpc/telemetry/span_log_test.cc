#include "server/rpc/telemetry/span_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace eipc::rpc {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

StepSpan Span(int number) {
  StepSpan span;
  span.trace = {1, 2, 3, true};
  span.id = static_cast<uint64_t>(number) + 1;
  span.start_unix_ns = 1'700'000'000'123'456'789;
  span.duration_ns = 1500;
  span.session = "sessions/7";
  span.steps = number;
  span.outcome = "converged";
  return span;
}

std::string Path() { return ::testing::TempDir() + "/spans" + std::to_string(getpid()) + ".jsonl"; }

std::vector<json> Lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  return lines;
}

const json& Spans(const json& line) { return line["resourceSpans"][0]["scopeSpans"][0]["spans"]; }

json Attribute(const json& span, const std::string& key) {
  for (const json& attribute : span["attributes"]) {
    if (attribute["key"] == key) return attribute["value"];
  }
  return nullptr;
}

TEST(OtlpLine, SaysWhatOpenTelemetrysProtocolSays) {
  StepSpan failed = Span(4);
  failed.trace.parent = 0;
  failed.code = absl::StatusCode::kAborted;
  failed.message = "STEP_MISMATCH: \xff";  // not UTF-8
  failed.slot_wait_s = 0.25;
  const json line = json::parse(OtlpLine({Span(3), failed}));
  EXPECT_EQ(line["resourceSpans"][0]["resource"]["attributes"][0]["key"], "service.name");
  ASSERT_EQ(Spans(line).size(), 2u);
  const json &good = Spans(line)[0], &bad = Spans(line)[1];
  EXPECT_EQ(good["traceId"], "00000000000000010000000000000002");
  EXPECT_EQ(good["spanId"], "0000000000000004");
  EXPECT_EQ(good["parentSpanId"], "0000000000000003");
  EXPECT_EQ(good["startTimeUnixNano"], "1700000000123456789") << "64-bit numbers are strings";
  EXPECT_EQ(good["endTimeUnixNano"], "1700000000123458289");
  EXPECT_EQ(good["kind"], 2);
  EXPECT_EQ(Attribute(good, "eipc.steps")["intValue"], "3");
  EXPECT_EQ(Attribute(good, "eipc.session")["stringValue"], "sessions/7");
  EXPECT_FALSE(good.contains("status"));
  EXPECT_FALSE(bad.contains("parentSpanId"));
  EXPECT_EQ(Attribute(bad, "eipc.slot_wait_s")["doubleValue"], 0.25);
  EXPECT_EQ(Attribute(bad, "rpc.grpc.status_code")["intValue"], "10");
  EXPECT_EQ(bad["status"]["code"], 2);
  EXPECT_THAT(bad["status"]["message"].get<std::string>(), HasSubstr("STEP_MISMATCH"));
}

TEST(SpanLog, WritesWhatThreadsPushed) {
  const std::string path = Path();
  std::remove(path.c_str());
  {
    auto log = SpanLog::Open(path);
    ASSERT_TRUE(log.ok()) << log.status();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) (*log)->Push(Span(500 * t + i));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::vector<int> seen(2000, 0);
  for (const json& line : Lines(path)) {
    for (const json& span : Spans(line)) ++seen[std::stoi(Attribute(span, "eipc.steps")["intValue"].get<std::string>())];
  }
  EXPECT_EQ(seen, std::vector<int>(2000, 1));
  {
    auto again = SpanLog::Open(path);
    (*again)->Push(Span(0));
  }
  size_t count = 0;
  for (const json& line : Lines(path)) count += Spans(line).size();
  EXPECT_EQ(count, 2001u) << "what was there stays";
  std::remove(path.c_str());
}

// A step never waits for a file: a pipe that nobody reads fills up, the queue after it, and the rest is dropped and counted.
TEST(SpanLog, DropsWhatDoesNotFit) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto log = SpanLog::Open("/proc/self/fd/" + std::to_string(ends[1]), 100);
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  const std::string page(4096, ' ');
  while (write(ends[1], page.data(), page.size()) > 0) continue;
  close(ends[1]);
  // The log's end blocks. At most the queue twice: the spans that the writer holds, and those that wait.
  for (int i = 0; i < 500; ++i) (*log)->Push(Span(i));
  EXPECT_GE((*log)->counts().dropped, 300);
  close(ends[0]);  // what is written now is lost
  log->reset();
}

// A disk that fills up: what cannot be written is counted, and what is in the file is whole lines.
TEST(SpanLog, SurvivesAFullDisk) {
  const std::string path = Path();
  std::remove(path.c_str());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  auto log = SpanLog::Open(path);
  ASSERT_TRUE(log.ok()) << log.status();
  const auto push_until = [&](auto done) {
    for (int i = 0; i < 100 && !done((*log)->counts()); ++i) {
      (*log)->Push(Span(i));
      (*log)->Flush();
    }
    return done((*log)->counts());
  };
  EXPECT_TRUE(push_until([](const SpanLog::Counts& c) { return c.written > 0; }));
  const rlimit full = {2000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  EXPECT_TRUE(push_until([](const SpanLog::Counts& c) { return c.lost > 0; }));
  setrlimit(RLIMIT_FSIZE, &before);
  const int64_t written = (*log)->counts().written;
  EXPECT_TRUE(push_until([&](const SpanLog::Counts& c) { return c.written > written; })) << "it goes on when there is room";
  log->reset();
  EXPECT_GE(Lines(path).size(), 2u) << "every line is JSON, or reading them threw";
  std::remove(path.c_str());
}

TEST(SpanLog, SaysWhenTheFileCannotBeOpened) {
  const auto log = SpanLog::Open("/nonexistent/folder/spans.jsonl");
  EXPECT_EQ(log.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(log.status().message()), HasSubstr("/nonexistent/folder/spans.jsonl: No such file"));
}

}  // namespace
}  // namespace eipc::rpc
