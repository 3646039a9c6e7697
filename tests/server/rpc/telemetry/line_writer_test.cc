#include "server/rpc/telemetry/line_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace eipc::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    out = ends[0];
    in = ends[1];
  }
  int out, in;
};

// Waits until nothing more can be written to it: its writer is blocked in the middle of a line that is longer than it has room.
void AwaitFull(const Pipe& pipe) {
  const int room = fcntl(pipe.out, F_GETPIPE_SZ);
  for (int held = 0; held < room; std::this_thread::yield()) ASSERT_EQ(ioctl(pipe.out, FIONREAD, &held), 0);
}

// Everything until all writers have closed the pipe.
std::vector<std::string> ReadLines(int file) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(file, buffer, sizeof(buffer))) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(file);
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

TEST(LineWriter, WritesInOrder) {
  Pipe pipe;
  {
    LineWriter writer(pipe.in, {});
    for (int i = 0; i < 3; ++i) writer.Push(absl::StrCat("line ", i));
  }
  EXPECT_THAT(ReadLines(pipe.out), ElementsAre("line 0", "line 1", "line 2"));
}

// Nobody reads: threads that push go on, the oldest lines go, and once somebody reads, a line says how many are missing, where they
// are.
TEST(LineWriter, NeverWaitsForTheReaderAndCountsWhatIsMissing) {
  constexpr int kLines = 2000;
  const std::string filling(1000, '.');
  Pipe pipe;
  std::atomic<int> losses = 0;
  LineWriter::Options options;
  options.max_queue_bytes = 100'000;
  options.patience = std::chrono::minutes(1);
  options.gap = [](int64_t count) { return absl::StrCat("missing ", count); };
  options.on_loss = [&] { ++losses; };
  std::vector<std::string> lines;
  std::thread reader;
  int64_t lost = 0;
  {
    LineWriter writer(pipe.in, options);
    writer.Push(absl::StrCat("0 ", std::string(1 << 20, '.')));
    AwaitFull(pipe);
    for (int i = 1; i < kLines; ++i) writer.Push(absl::StrCat(i, " ", filling));
    lost = writer.counts().lost;
    EXPECT_GT(lost, kLines / 2);
    EXPECT_EQ(losses, 1);
    reader = std::thread([&] { lines = ReadLines(pipe.out); });
    writer.Flush();
    EXPECT_EQ(writer.counts().lost, lost);
    EXPECT_EQ(writer.counts().written, kLines - lost);
  }
  reader.join();
  int next = 0, gaps = 0;
  for (const std::string& line : lines) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    int number = 0;
    if (words[0] == "missing") {
      ASSERT_TRUE(absl::SimpleAtoi(words[1], &number));
      next += number;
      ++gaps;
    } else {
      ASSERT_TRUE(absl::SimpleAtoi(words[0], &number));
      ASSERT_EQ(number, next++);
    }
  }
  EXPECT_EQ(next, kLines);
  EXPECT_EQ(gaps, 1);
}

// The end of a process must not depend on a reader.
TEST(LineWriter, EndsWhileItsThreadIsBlocked) {
  Pipe pipe;
  const std::string filling(100'000, '.');  // more than a pipe holds
  LineWriter::Options options;
  options.patience = std::chrono::milliseconds(20);
  {
    LineWriter writer(pipe.in, options);
    writer.Push(filling);
    writer.Flush();
    writer.Push("the last line");
  }
  EXPECT_THAT(ReadLines(pipe.out), ElementsAre(filling, "the last line"));  // the thread that was left behind goes on
}

TEST(LineWriter, SwitchesFiles) {
  const std::string first = ::testing::TempDir() + "/first", second = ::testing::TempDir() + "/second";
  const auto open_file = [](const std::string& path) { return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600); };
  {
    LineWriter writer(open_file(first), {});
    writer.Push("a");
    writer.Flush();
    writer.SwitchTo(open_file(second));
    writer.Push("b");
  }
  EXPECT_THAT(LinesOf(first), ElementsAre("a"));
  EXPECT_THAT(LinesOf(second), ElementsAre("b"));
}

TEST(LineWriter, SaysWhatCouldNotBeWrittenWhenItCanWriteAgain) {
  Pipe pipe;
  int losses = 0;
  LineWriter::Options options;
  options.patience = std::chrono::minutes(1);
  options.gap = [](int64_t count) { return absl::StrCat("missing ", count); };
  options.on_loss = [&] { ++losses; };
  int64_t resumed = 0;
  options.on_resume = [&](int64_t count) { resumed += count; };
  {
    LineWriter writer(open("/dev/full", O_WRONLY | O_CLOEXEC), options);
    writer.Push("a");
    writer.Push("b");
    writer.Flush();
    EXPECT_EQ(writer.counts().lost, 2);
    EXPECT_EQ(losses, 1);
    writer.SwitchTo(pipe.in);
    writer.Push("c");
    writer.Flush();
    EXPECT_EQ(writer.counts().written, 1);
    EXPECT_EQ(resumed, 2);
  }
  EXPECT_THAT(ReadLines(pipe.out), ElementsAre("missing 2", "c"));
}

TEST(TimeNow, IsRfc3339InUtc) {
  EXPECT_THAT(TimeNow(), MatchesRegex("20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9][0-9][0-9]Z"));
}

}  // namespace
}  // namespace eipc::rpc
