// Children with every kind of failure: each ends, with a reason, and leaves nothing behind.
#include "server/os/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace eipc {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ChildLimits Output(size_t most) {
  ChildLimits limits;
  limits.max_output = most;
  return limits;
}

TEST(ChildProcess, ConversesWithoutBlocking) {
  const std::string much(3 << 20, 'x');
  const auto output = RunChild({"/bin/cat"}, much, Output(4 << 20), {});
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(*output, much);
  EXPECT_EQ(RunChild({"/bin/cat"}, much, Output(1 << 20), {}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(RunChild({"/no/such/program"}, "", Output(10), {}).status().code(), absl::StatusCode::kResourceExhausted);
  const absl::Status failed = RunChild({"/bin/sh", "-c", "echo why >&2; exit 3"}, "", Output(10), {}).status();
  EXPECT_EQ(failed.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(failed.message()), HasSubstr("exit status 3: why"));
}

TEST(ChildProcess, LinesAreHeardAsTheyCome) {
  std::vector<std::string> lines;
  const auto heard = [&](const std::string& line) {
    lines.push_back(line);
    return line.rfind("P ", 0) == 0;
  };
  const std::string script = "echo P 1 >&2; echo why >&2; for i in $(seq 2000); do echo P $i >&2; done; echo not >&2; exit 3";
  const absl::Status failed = RunChild({"/bin/sh", "-c", script}, "", Output(10), {}, heard).status();
  ASSERT_EQ(lines.size(), 2003u);
  EXPECT_EQ(lines[2001], "P 2000");
  EXPECT_THAT(std::string(failed.message()), HasSubstr("exit status 3: why\nnot"));
}

// A child that would go on for an hour ends with its budget.
TEST(ChildProcess, IsKilledWithItsBudget) {
  int polls = 0;
  StepBudget budget;
  budget.cancelled = [&] { return ++polls > 3; };
  EXPECT_EQ(RunChild({"/bin/sleep", "3600"}, "", Output(10), budget).status().code(), absl::StatusCode::kCancelled);
  StepBudget late;
  late.deadline = std::chrono::steady_clock::now() - seconds(1);
  EXPECT_EQ(RunChild({"/bin/sleep", "3600"}, "", Output(10), late).status().code(), absl::StatusCode::kDeadlineExceeded);
}

// What the tests below run: this program, with the name of one of its disabled tests.
std::vector<std::string> Self(const std::string& test) {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  return {std::string(path, static_cast<size_t>(size)), "--gtest_also_run_disabled_tests",
          absl::StrCat("--gtest_filter=ChildsPart.DISABLED_", test)};
}

void AllocateWithoutEnd() {
  for (;;) {
    char* const block = new char[16 << 20];
    std::memset(block, 1, 16 << 20);
  }
}

// As a program that is not prepared for it, and as one that is.
TEST(ChildsPart, DISABLED_AllocatesUntilItIsAborted) {
  []() noexcept { AllocateWithoutEnd(); }();
}
TEST(ChildsPart, DISABLED_AllocatesAndTells) {
  try {
    AllocateWithoutEnd();
  } catch (const std::bad_alloc&) {
    _exit(kOutOfMemoryExit);
  }
}

TEST(ChildsPart, DISABLED_Spins) {
  for (const volatile bool on = true; on;) {
  }
}

TEST(ChildsPart, DISABLED_IgnoresSignalsAndClosesItsOutputs) {
  signal(SIGTERM, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  close(STDOUT_FILENO);
  close(STDERR_FILENO);
  for (;;) pause();
}

TEST(ChildProcess, ThatAllocatesWithoutEndRunsIntoItsLimit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve more addresses than any limit allows";
#endif
  ChildLimits limits;
  limits.memory_bytes = 256 << 20;
  for (const char* test : {"AllocatesUntilItIsAborted", "AllocatesAndTells"}) {
    const absl::Status status = RunChild(Self(test), "", limits, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()), StartsWith("CHILD_MEMORY: "));
    EXPECT_THAT(std::string(status.message()), HasSubstr("--child-memory-mib"));
  }
}

// Without a bound on its addresses: this program may be one that a sanitizer is in.
ChildLimits OneSecond() {
  ChildLimits limits;
  limits.time = seconds(1);
  limits.memory_bytes = 0;
  return limits;
}

TEST(ChildProcess, ThatSpinsEndsAtItsTime) {
  const ChildLimits limits = OneSecond();
  const absl::Status status = RunChild(Self("Spins"), "", limits, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_THAT(std::string(status.message()), StartsWith("CHILD_TIME: "));
}

// It neither ends nor has anything more to say.
TEST(ChildProcess, ThatIgnoresSignalsAndClosesItsOutputsEndsAtItsTime) {
  const ChildLimits limits = OneSecond();
  const absl::Status status = RunChild(Self("IgnoresSignalsAndClosesItsOutputs"), "", limits, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "nothing is left of it";
}

TEST(ChildProcess, HasLimitsDefaultSignalsAndNoFilesButItsOwn) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // without O_CLOEXEC, as a library might open one
  struct sigaction ignore = {}, before = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  sigset_t blocked, old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, &old);
  const std::string script = "ulimit -c; ulimit -n; ls /proc/self/fd | wc -l; grep -E '^Sig(Blk|Ign)' /proc/self/status";
  const auto output = RunChild({"/bin/sh", "-c", script}, "", {}, {});
  sigprocmask(SIG_SETMASK, &old, nullptr);
  sigaction(SIGPIPE, &before, nullptr);
  close(ends[0]);
  close(ends[1]);
  ASSERT_TRUE(output.ok()) << output.status();
  // Three and the folder that is listed.
  EXPECT_THAT(*output, StartsWith("0\n64\n4\n"));
  EXPECT_THAT(*output, HasSubstr("SigBlk:\t0000000000000000"));
  EXPECT_THAT(*output, HasSubstr("SigIgn:\t0000000000000000"));
}

class SmallMeter : public MemoryMeter {
 public:
  absl::Status Add(int64_t bytes) override {
    asked += bytes;
    return asked > (1 << 20) ? absl::ResourceExhaustedError("METER_FULL: no more") : absl::OkStatus();
  }
  int64_t asked = 0;
};

TEST(ChildProcess, ItsOutputIsAskedOfTheMeterAsItGrows) {
  SmallMeter meter;
  ChildLimits limits;
  limits.meter = &meter;
  ASSERT_TRUE(RunChild({"/bin/cat"}, std::string(1000, 'x'), limits, {}).ok());
  EXPECT_GE(meter.asked, 1000);
  EXPECT_EQ(RunChild({"/bin/cat"}, std::string(8 << 20, 'x'), limits, {}).status(),
            absl::ResourceExhaustedError("METER_FULL: no more"));
  EXPECT_LT(meter.asked, 2 << 20);
}

// A process between this one and the child is killed like a server that runs out of luck: the child goes with it.
TEST(ChildProcess, DiesWithItsParent) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the orphan becomes ours, so that its end is seen
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    const auto heard = [&](const std::string& line) { return write(ends[1], line.c_str(), line.size() + 1) > 0; };
    (void)RunChild({"/bin/sh", "-c", "echo $$ >&2; exec sleep 3600"}, "", {}, {}, heard);
    _exit(1);
  }
  close(ends[1]);
  char text[32] = {};
  ASSERT_GT(read(ends[0], text, sizeof(text) - 1), 0);
  close(ends[0]);
  int child = 0;
  ASSERT_TRUE(absl::SimpleAtoi(text, &child)) << text;
  ASSERT_EQ(kill(parent, SIGKILL), 0);
  int ended = 0;
  ASSERT_EQ(waitpid(parent, &ended, 0), parent);
  ASSERT_EQ(waitpid(child, &ended, 0), child) << "it became an orphan, and then ended";
  EXPECT_TRUE(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace eipc
