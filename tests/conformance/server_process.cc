#include "tests/conformance/server_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace eipc::testing {
namespace {

// EIPC_SERVER, as for the Python client's tests: a server of another build, or behind a proxy.
std::string ServerBinary() {
  if (const char* program = std::getenv("EIPC_SERVER"); program != nullptr && *program != '\0') return program;
  const char* folder = std::getenv("EIPC_BINARY_DIR");
  return std::string(folder == nullptr ? "." : folder) + "/bin/eipc-server";
}

std::string ReadLine(int file) {
  std::string line;
  char c;
  while (read(file, &c, 1) == 1 && c != '\n') line.push_back(c);
  return line;
}

}  // namespace

ServerProcess::ServerProcess(const std::vector<std::string>& arguments, int error_file) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return;
  if (error_file >= 0) {
    error_file_ = fcntl(error_file, F_DUPFD_CLOEXEC, 0);
  } else {
    std::FILE* errors = std::tmpfile();
    error_file_ = fcntl(fileno(errors), F_DUPFD_CLOEXEC, 0);
    std::fclose(errors);
  }
  const std::string binary = ServerBinary();
  std::vector<char*> argv = {const_cast<char*>(binary.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  child_ = fork();
  if (child_ == 0) {
    dup2(pipe_ends[1], STDOUT_FILENO);
    dup2(error_file_, STDERR_FILENO);
    execv(binary.c_str(), argv.data());
    _exit(127);
  }
  close(pipe_ends[1]);
  output_ = pipe_ends[0];
  first_line_ = ReadLine(output_);
}

ServerProcess::~ServerProcess() {
  if (child_ > 0) {
    Signal(SIGKILL);
    Wait();
  }
  if (output_ >= 0) close(output_);
  if (error_file_ >= 0) close(error_file_);
}

std::string ServerProcess::address() const {
  const size_t space = first_line_.rfind(' ');
  return space == std::string::npos ? "" : first_line_.substr(space + 1);
}

void ServerProcess::Signal(int signal) {
  if (child_ > 0) kill(child_, signal);
}

int ServerProcess::Wait() {
  int status = 0;
  if (child_ <= 0 || waitpid(child_, &status, 0) != child_) return -1;
  child_ = -1;
  errors_ = ErrorsSoFar();
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Where the server writes is left as it is. Nothing when it is not a file.
std::string ServerProcess::ErrorsSoFar() const {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = pread(error_file_, buffer, sizeof(buffer), static_cast<off_t>(text.size()))) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace eipc::testing
