#ifndef EIPC_SERVER_CHECK_CONFIG_H_
#define EIPC_SERVER_CHECK_CONFIG_H_

#include <string>
#include <vector>

#include "server/config.h"

namespace eipc {

struct ConfigReport {
  // What would keep a server with these settings from starting, or from doing what they say: a line each, with how to mend it.
  std::vector<std::string> problems;
  // What is worth knowing, but keeps nothing from starting.
  std::vector<std::string> notes;
};

// Checks settings, and the files and folders that they name. Starts, creates and changes nothing.
ConfigReport CheckConfig(const ServerConfig& config);

}  // namespace eipc

#endif  // EIPC_SERVER_CHECK_CONFIG_H_
