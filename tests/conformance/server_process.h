#ifndef EIPC_TESTS_CONFORMANCE_SERVER_PROCESS_H_
#define EIPC_TESTS_CONFORMANCE_SERVER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace eipc::testing {

// An eipc-server of this build, run as a child.
class ServerProcess {
 public:
  // Runs it with `arguments` and reads its first line of output (empty when it ended without one).
  // `error_file`: where its standard error goes instead of to errors(); stays the caller's.
  explicit ServerProcess(const std::vector<std::string>& arguments, int error_file = -1);
  // Ends it.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& first_line() const { return first_line_; }
  // "HOST:PORT" of the first line.
  std::string address() const;
  void Signal(int signal);
  pid_t pid() const { return child_; }
  // Waits for its end: the exit status, or minus the signal that ended it.
  int Wait();
  // What it wrote to standard error; after Wait.
  const std::string& errors() const { return errors_; }
  // The same so far, while it runs.
  std::string ErrorsSoFar() const;

 private:
  pid_t child_ = -1;
  int output_ = -1;
  int error_file_ = -1;
  std::string first_line_;
  std::string errors_;
};

}  // namespace eipc::testing

#endif  // EIPC_TESTS_CONFORMANCE_SERVER_PROCESS_H_
