#ifndef EIPC_SERVER_CONFIG_H_
#define EIPC_SERVER_CONFIG_H_

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/proxy_config.h"
#include "server/rpc/listen/grpc_server.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace eipc {

// Everything that can be set, from the command line, a file (--config) or the environment, in this order
// (docs/howto/operations.md). Each setting is declared once, in config.cc, with its unit, bounds and default; help, log and
// --check-config follow from that.
class ServerConfig {
 public:
  // What one setting is in effect, in the words of the command line.
  struct Setting {
    std::string name;
    std::string value;
    // Read again on SIGHUP; the others take effect at the next start.
    bool reloadable = false;
    bool given = false;  // not its default
  };

  // Names of settings that have another value.
  struct Changes {
    std::vector<std::string> reloadable;
    std::vector<std::string> others;
  };

  ServerConfig();
  ~ServerConfig();

  // False when there is nothing more to do than to print `message` and to exit with `exit_status`: 0 for help, 2 for settings that
  // are not understood.
  bool Parse(int argc, const char* const* argv);
  const std::string& message() const { return message_; }
  int exit_status() const { return exit_status_; }

  // None of them is a secret: credentials are in files that settings name.
  std::vector<Setting> Settings() const;
  Changes ChangesSince(const ServerConfig& before) const;

  rpc::GrpcServerOptions server;
  ProxyOptions proxy;
  bool print_proxy_config = false;
  bool check_only = false;
  double grace_s = 5;
  // The port of the Agones sidecar's HTTP interface on this machine; 0: none.
  int agones_port = 0;
  std::chrono::milliseconds agones_health{2000};
  int malloc_arenas = 0;  // set by the constructor
  std::string log_level = "info";

 private:
  void AddServing();
  void AddSurvival();
  void AddLimits();
  void AddSizes();
  void AddTenants();
  void AddConnections();
  void AddProxy();
  void AddAgones();
  // Marks a setting as one that SIGHUP reads again.
  CLI::Option* Reloadable(CLI::Option* option);
  std::string UnknownSettings() const;

  const std::unique_ptr<CLI::App> app_;
  std::vector<std::string> reloadable_;
  std::string message_;
  int exit_status_ = 0;
};

// The one of `known` that takes the fewest changed characters to make `name` of; empty when none is close.
std::string NearestName(const std::string& name, const std::vector<std::string>& known);

}  // namespace eipc

#endif  // EIPC_SERVER_CONFIG_H_
