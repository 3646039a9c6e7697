#include "server/os/child_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

constexpr int kPollMs = 20;
constexpr size_t kMaxErrors = 4096;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == 0) std::tie(read_end, write_end) = std::pair(ends[0], ends[1]);
  }
  ~Pipe() {
    CloseRead();
    CloseWrite();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void CloseRead() {
    if (read_end >= 0) close(std::exchange(read_end, -1));
  }
  void CloseWrite() {
    if (write_end >= 0) close(std::exchange(write_end, -1));
  }
};

// What the child does between fork and exec: nothing but system calls, for its memory is a copy of one that other threads were
// writing to.
struct Start {
  char* const* argv;
  int in, out, err;  // ends of pipes
  int failure;       // where the number of an error goes; closed by exec
  pid_t parent;
  std::array<std::pair<__rlimit_resource_t, rlimit>, 5> limits;
};

bool PrepareChild(const Start& start) {
  // Dies with the thread that forked, which waits for it, and so with the process.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != start.parent) return false;
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  if (sigprocmask(SIG_SETMASK, &none, nullptr) != 0) return false;
  if (dup2(start.in, STDIN_FILENO) < 0 || dup2(start.out, STDOUT_FILENO) < 0 || dup2(start.err, STDERR_FILENO) < 0) return false;
  (void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const auto& [resource, limit] : start.limits) {
    if (setrlimit(resource, &limit) != 0) return false;
  }
  return true;
}

[[noreturn]] void RunAsChild(const Start& start) {
  if (PrepareChild(start)) execv(start.argv[0], start.argv);
  const int error = errno;
  (void)!write(start.failure, &error, sizeof(error));
  _exit(127);
}

// At most what this process may have itself.
std::pair<__rlimit_resource_t, rlimit> Limit(__rlimit_resource_t resource, rlim_t most) {
  rlimit own = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(resource, &own);
  const rlim_t least = own.rlim_max == RLIM_INFINITY ? most : std::min(most, own.rlim_max);
  return {resource, {least, least}};
}

rlim_t ProcessorSeconds(const ChildLimits& limits) {
  return static_cast<rlim_t>(limits.time.count()) * std::max(1U, std::thread::hardware_concurrency()) + 1;
}

// The child, or -1 with errno.
pid_t Spawn(const std::vector<std::string>& arguments, const ChildLimits& limits, const Pipe& in, const Pipe& out,
            const Pipe& err) {
  constexpr rlim_t kPrograms = rlim_t{512} << 20, kFiles = 64;
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  Pipe failure;
  if (failure.read_end < 0) return -1;
  const rlim_t memory = limits.memory_bytes > 0 ? static_cast<rlim_t>(limits.memory_bytes) : RLIM_INFINITY;
  const Start start = {argv.data(),
                       in.read_end,
                       out.write_end,
                       err.write_end,
                       failure.write_end,
                       getpid(),
                       {Limit(RLIMIT_DATA, memory), Limit(RLIMIT_AS, limits.memory_bytes > 0 ? memory + kPrograms : memory),
                        Limit(RLIMIT_CPU, ProcessorSeconds(limits)), Limit(RLIMIT_CORE, 0), Limit(RLIMIT_NOFILE, kFiles)}};
  // No handlers of libraries run in between, as fork() would have them do.
  const pid_t child = _Fork();
  if (child < 0) return -1;
  if (child == 0) RunAsChild(start);
  failure.CloseWrite();
  int error = 0;
  ssize_t count = 0;
  while ((count = read(failure.read_end, &error, sizeof(error))) < 0 && errno == EINTR) {
  }
  if (count != static_cast<ssize_t>(sizeof(error))) return child;
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  errno = error;
  return -1;
}

// Reads what is there; false at the end.
bool ReadSome(int file, std::string* into, size_t limit) {
  char buffer[1 << 16];
  const ssize_t count = read(file, buffer, sizeof(buffer));
  if (count > 0 && into->size() < limit) into->append(buffer, std::min(static_cast<size_t>(count), limit - into->size()));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

using Heard = std::function<bool(const std::string& line)>;

// Standard error: lines that are taken, and the first kMaxErrors bytes of what is not.
struct ErrorLines {
  std::string unheard;  // the beginning of a line
  std::string kept;

  // Offers whole lines, and what there is of one when the stream has ended or the line does not.
  void Hear(const Heard& heard, bool ended) {
    size_t from = 0;
    for (size_t end = unheard.find('\n'); end != std::string::npos; end = unheard.find('\n', from)) {
      const std::string line = unheard.substr(from, end - from);
      from = end + 1;
      if (!heard || !heard(line)) Keep(line + "\n");
    }
    unheard.erase(0, from);
    if (ended || unheard.size() > kMaxErrors) Keep(std::exchange(unheard, {}));
  }
  void Keep(const std::string& text) { kept.append(text, 0, kMaxErrors - std::min(kMaxErrors, kept.size())); }
};

absl::Status ReadOutput(int file, const ChildLimits& limits, std::string* output, bool* ended) {
  const size_t before = output->size();
  *ended = !ReadSome(file, output, limits.max_output + 1);
  if (output->size() > limits.max_output) return absl::ResourceExhaustedError("CHILD_OUTPUT: the child wrote more than it may");
  // Twice: the text doubles when it is full.
  return AddTo(limits.meter, 2 * static_cast<int64_t>(output->size() - before));
}

// The pipes to a child, and what has come through them.
struct Conversation {
  Pipe in, out, err;
  std::string output;
  ErrorLines errors;

  bool HasPipes() const { return in.read_end >= 0 && out.read_end >= 0 && err.read_end >= 0; }
};

// Feeds and reads until both outputs end. The budget's status.
absl::Status Converse(absl::string_view input, const ChildLimits& limits, const StepBudget& budget, const Heard& heard,
                      Conversation* with) {
  Pipe *in = &with->in, *out = &with->out, *err = &with->err;
  constexpr size_t kAtOnce = 1 << 20;
  fcntl(in->write_end, F_SETFL, O_NONBLOCK);
  if (input.empty()) in->CloseWrite();
  while (out->read_end >= 0 || err->read_end >= 0) {
    if (const absl::Status status = budget.Poll(); !status.ok()) return status;
    std::array<pollfd, 3> files = {pollfd{in->write_end, POLLOUT, 0}, {out->read_end, POLLIN, 0}, {err->read_end, POLLIN, 0}};
    if (poll(files.data(), files.size(), kPollMs) <= 0) continue;
    if (files[0].revents != 0) {
      const ssize_t count = write(in->write_end, input.data(), std::min<size_t>(input.size(), 1 << 16));
      if (count > 0) input.remove_prefix(static_cast<size_t>(count));
      if (input.empty() || (count < 0 && errno != EAGAIN && errno != EINTR)) in->CloseWrite();
    }
    if (files[1].revents != 0) {
      bool ended = false;
      EIPC_RETURN_IF_ERROR(ReadOutput(out->read_end, limits, &with->output, &ended));
      if (ended) out->CloseRead();
    }
    if (files[2].revents != 0 && !ReadSome(err->read_end, &with->errors.unheard, kAtOnce)) err->CloseRead();
    with->errors.Hear(heard, err->read_end < 0);
  }
  return absl::OkStatus();
}

// Waits for the end of a child that has closed its outputs; it may still be at work.
absl::Status AwaitEnd(pid_t child, const StepBudget& budget, int* ended) {
  while (true) {
    const pid_t found = waitpid(child, ended, WNOHANG);
    if (found == child || (found < 0 && errno != EINTR)) return absl::OkStatus();
    if (const absl::Status status = budget.Poll(); !status.ok()) {
      kill(child, SIGKILL);
      while (waitpid(child, ended, 0) < 0 && errno == EINTR) {
      }
      return status;
    }
    poll(nullptr, 0, 1);
  }
}

// What its end says.
absl::Status Verdict(int ended, const ChildLimits& limits, const std::string& errors) {
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return absl::OkStatus();
  const bool killed = WIFSIGNALED(ended);
  // What does not catch std::bad_alloc is aborted.
  const bool no_memory =
      (WIFEXITED(ended) && WEXITSTATUS(ended) == kOutOfMemoryExit) || absl::StrContains(errors, "std::bad_alloc");
  if (no_memory || (killed && WTERMSIG(ended) == SIGKILL)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("CHILD_MEMORY: the work needs more memory than its process may have (", limits.memory_bytes,
                     " bytes, --child-memory-mib), or the machine has none left; make what it works on smaller"));
  }
  if (killed && WTERMSIG(ended) == SIGXCPU) {
    return absl::DeadlineExceededError("CHILD_TIME: the work took more processor time than its process may have");
  }
  return absl::InternalError(
      absl::StrCat("CHILD_FAILED: ",
                   killed ? absl::StrCat("ended by signal ", WTERMSIG(ended)) : absl::StrCat("exit status ", WEXITSTATUS(ended)),
                   errors.empty() ? "" : ": ", errors));
}

}  // namespace

absl::StatusOr<std::string> RunChild(const std::vector<std::string>& arguments, absl::string_view input, const ChildLimits& limits,
                                     const StepBudget& budget, const Heard& heard) {
  Conversation with;
  if (!with.HasPipes()) {
    return absl::ResourceExhaustedError(absl::StrCat("CHILD_FAILED: no pipes: ", std::strerror(errno)));
  }
  const auto latest = std::chrono::steady_clock::now() + limits.time;
  StepBudget both = budget;
  both.deadline = std::min(budget.deadline, latest);
  const pid_t child = Spawn(arguments, limits, with.in, with.out, with.err);
  if (child < 0) return absl::ResourceExhaustedError(absl::StrCat("CHILD_FAILED: cannot start: ", std::strerror(errno)));
  with.in.CloseRead();
  with.out.CloseWrite();
  with.err.CloseWrite();
  absl::Status status = Converse(input, limits, both, heard, &with);
  if (!status.ok()) kill(child, SIGKILL);
  int ended = 0;
  status.Update(AwaitEnd(child, status.ok() ? both : StepBudget(), &ended));
  if (absl::IsDeadlineExceeded(status) && budget.deadline > latest) {
    return absl::DeadlineExceededError(
        absl::StrCat("CHILD_TIME: the work was not done within the ", limits.time.count(), " s that its process may take"));
  }
  if (!status.ok()) return status;
  EIPC_RETURN_IF_ERROR(Verdict(ended, limits, with.errors.kept));
  return std::move(with.output);
}

}  // namespace eipc
