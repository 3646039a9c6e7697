#ifndef EIPC_SIM_ROBOT_URDFDOM_MESSAGES_H_
#define EIPC_SIM_ROBOT_URDFDOM_MESSAGES_H_

#include <console_bridge/console.h>

#include <mutex>
#include <string>
#include <vector>

namespace eipc {

// While it exists, keeps what urdfdom says of errors instead of printing it. Its output handler is one for the whole process, so
// one import is read at a time.
class UrdfdomMessages : public console_bridge::OutputHandler {
 public:
  UrdfdomMessages() : lock_(mutex_), before_(console_bridge::getOutputHandler()) { console_bridge::useOutputHandler(this); }
  ~UrdfdomMessages() override { console_bridge::useOutputHandler(before_); }
  void log(const std::string& text, console_bridge::LogLevel level, const char*, int) override {
    if (level == console_bridge::CONSOLE_BRIDGE_LOG_ERROR) errors_.push_back(text);
  }
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  static inline std::mutex mutex_;
  std::lock_guard<std::mutex> lock_;
  console_bridge::OutputHandler* before_;
  std::vector<std::string> errors_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_URDFDOM_MESSAGES_H_
