#include "server/session/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

extern char** environ;

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

pid_t Spawn(const std::vector<std::string>& arguments, const Pipe& in, const Pipe& out, const Pipe& err) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read_end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  if (posix_spawn(&child, arguments[0].c_str(), &actions, &attributes, argv.data(), environ) != 0) child = -1;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return child;
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

// Feeds and reads until both outputs end. The budget's status.
absl::Status Converse(absl::string_view input, size_t max_output, const StepBudget& budget, const Heard& heard, Pipe* in, Pipe* out,
                      Pipe* err, std::string* output, ErrorLines* errors) {
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
    if (files[1].revents != 0 && !ReadSome(out->read_end, output, max_output + 1)) out->CloseRead();
    if (files[2].revents != 0 && !ReadSome(err->read_end, &errors->unheard, kAtOnce)) err->CloseRead();
    errors->Hear(heard, err->read_end < 0);
    if (output->size() > max_output) return absl::ResourceExhaustedError("CHILD_OUTPUT: the child wrote more than it may");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> RunChild(const std::vector<std::string>& arguments, absl::string_view input, size_t max_output,
                                     const StepBudget& budget, const Heard& heard) {
  Pipe in, out, err;
  if (in.read_end < 0 || out.read_end < 0 || err.read_end < 0) {
    return absl::ResourceExhaustedError(absl::StrCat("CHILD_FAILED: no pipes: ", std::strerror(errno)));
  }
  const pid_t child = Spawn(arguments, in, out, err);
  if (child < 0) return absl::ResourceExhaustedError(absl::StrCat("CHILD_FAILED: cannot start: ", std::strerror(errno)));
  in.CloseRead();
  out.CloseWrite();
  err.CloseWrite();
  std::string output;
  ErrorLines errors;
  const absl::Status status = Converse(input, max_output, budget, heard, &in, &out, &err, &output, &errors);
  if (!status.ok()) kill(child, SIGKILL);
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  if (!status.ok()) return status;
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return output;
  return absl::InternalError(absl::StrCat(
      "CHILD_FAILED: ",
      WIFEXITED(ended) ? absl::StrCat("exit status ", WEXITSTATUS(ended)) : absl::StrCat("ended by signal ", WTERMSIG(ended)),
      errors.kept.empty() ? "" : ": ", errors.kept));
}

}  // namespace eipc
