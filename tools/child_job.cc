#include "tools/child_job.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace eipc {
namespace {

using Clock = std::chrono::steady_clock;

volatile sig_atomic_t interrupted = 0;
void Interrupt(int) { interrupted = 1; }

// SIGINT and SIGTERM only set a flag while this lives.
class CatchInterrupts {
 public:
  CatchInterrupts() {
    interrupted = 0;
    struct sigaction action = {};
    action.sa_handler = Interrupt;
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  ~CatchInterrupts() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
  }

 private:
  struct sigaction old_int_, old_term_;
};

// Lines from the child: "P share stage" while it works, then "S code message" once.
void Send(int fd, const std::string& line) {
  size_t at = 0;
  while (at < line.size()) {
    const ssize_t written = write(fd, line.data() + at, line.size() - at);
    if (written <= 0) return;
    at += static_cast<size_t>(written);
  }
}

std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

[[noreturn]] void Child(const std::function<absl::Status(const MeshingProgress&)>& job, const ChildLimits& limits, int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);  // the terminal's Ctrl-C is for the parent, which ends us
  signal(SIGPIPE, SIG_IGN);
  const int null = open("/dev/null", O_RDWR);
  for (const int k : {0, 1, 2}) dup2(null, k);
  const rlim_t memory = static_cast<rlim_t>(limits.memory_bytes);
  const rlimit space = {memory, memory};
  setrlimit(RLIMIT_AS, &space);
  const rlimit core = {0, 0};
  setrlimit(RLIMIT_CORE, &core);
  const MeshingProgress progress = [fd](const std::string& stage, double share) {
    Send(fd, absl::StrFormat("P %.4f %s\n", share, OneLine(stage)));
    return true;
  };
  absl::Status status;
  try {
    status = job(progress);
  } catch (const std::bad_alloc&) {
    status = absl::ResourceExhaustedError("");
  } catch (const std::exception& error) {
    status = absl::InternalError(error.what());
  } catch (...) {
    status = absl::InternalError("an unknown exception");
  }
  Send(fd, absl::StrFormat("S %d %s\n", static_cast<int>(status.code()), OneLine(std::string(status.message()))));
  _exit(0);
}

// Takes whole lines off `text`.
void TakeLines(std::string* text, const MeshingProgress& progress, absl::Status* status, bool* done) {
  for (size_t end = text->find('\n'); end != std::string::npos; end = text->find('\n')) {
    const std::string line = text->substr(0, end);
    text->erase(0, end + 1);
    const size_t space = line.find(' ', 2);
    if (line.size() < 3 || space == std::string::npos) continue;
    const std::string rest = line.substr(space + 1);
    if (line[0] == 'P' && progress) progress(rest, std::atof(line.c_str() + 2));
    if (line[0] != 'S') continue;
    *status = absl::Status(static_cast<absl::StatusCode>(std::atoi(line.c_str() + 2)), rest);
    *done = true;
  }
}

absl::Status OutOfMemory(const ChildLimits& limits) {
  return absl::ResourceExhaustedError(absl::StrFormat(
      "more than %.3g GiB of memory needed; simplify the mesh or raise --max-memory", limits.memory_bytes / 1073741824.0));
}

}  // namespace

absl::Status RunInChild(const std::function<absl::Status(const MeshingProgress&)>& job, const ChildLimits& limits,
                        const MeshingProgress& progress) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::InternalError("no pipe for the meshing process");
  const CatchInterrupts catch_interrupts;
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return absl::InternalError("the meshing process could not be started");
  }
  if (child == 0) {
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    close(ends[0]);
    Child(job, limits, ends[1]);
  }
  close(ends[1]);
  const auto deadline = Clock::now() + std::chrono::duration<double>(std::min(limits.seconds, 1e8));
  absl::Status status;
  bool done = false, ended = false;
  std::string text;
  while (!ended && interrupted == 0 && Clock::now() < deadline) {
    pollfd wait = {ends[0], POLLIN, 0};
    const double left_ms = std::chrono::duration<double, std::milli>(deadline - Clock::now()).count();
    if (poll(&wait, 1, static_cast<int>(std::clamp(left_ms, 1.0, 1000.0))) <= 0) continue;
    char buffer[4096];
    const ssize_t got = read(ends[0], buffer, sizeof(buffer));
    if (got > 0) text.append(buffer, static_cast<size_t>(got));
    ended = got == 0;
    TakeLines(&text, progress, &status, &done);
  }
  close(ends[0]);
  if (!ended) kill(child, SIGKILL);
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  if (done && status.code() == absl::StatusCode::kResourceExhausted && status.message().empty()) return OutOfMemory(limits);
  if (done) return status;
  if (interrupted != 0) return absl::CancelledError("interrupted");
  if (!ended) {
    return absl::DeadlineExceededError(
        absl::StrFormat("not done within %.4g s; simplify the mesh, lower --vertices, or raise --timeout", limits.seconds));
  }
  return absl::InternalError(WIFSIGNALED(how)
                                 ? absl::StrFormat("meshing crashed (%s); try a repaired or simpler mesh", strsignal(WTERMSIG(how)))
                                 : std::string("meshing ended without an answer"));
}

}  // namespace eipc
