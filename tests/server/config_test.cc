#include "server/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace eipc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

bool Parse(ServerConfig* config, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "eipc-server");
  return config->Parse(static_cast<int>(arguments.size()), arguments.data());
}

std::string Value(const ServerConfig& config, const std::string& name) {
  for (const ServerConfig::Setting& setting : config.Settings()) {
    if (setting.name == name) return setting.value;
  }
  return "no such setting";
}

TEST(ServerConfig, TakesFlagsBeforeTheFileBeforeTheEnvironment) {
  const std::string file = ::testing::TempDir() + "/eipc.conf";
  std::ofstream(file) << "# a comment\nmax-sessions = 8\nmax-scenes = 9\n";
  setenv("EIPC_SERVER_MAX_SCENES", "10", 1);
  setenv("EIPC_SERVER_MAX_SNAPSHOTS", "11", 1);
  ServerConfig config;
  ASSERT_TRUE(Parse(&config, {"--config", file.c_str(), "--max-sessions", "7"})) << config.message();
  unsetenv("EIPC_SERVER_MAX_SCENES");
  unsetenv("EIPC_SERVER_MAX_SNAPSHOTS");
  EXPECT_EQ(config.server.limits.max_sessions, 7);
  EXPECT_EQ(config.server.limits.max_scenes, 9);
  EXPECT_EQ(config.server.limits.max_snapshots, 11);
  EXPECT_EQ(Value(config, "max-sessions"), "7");
  EXPECT_EQ(Value(config, "max-scenes"), "9");
  EXPECT_EQ(Value(config, "max-snapshots"), "11");
}

// Units of the command line, defaults in the same unit.
TEST(ServerConfig, KeepsUnits) {
  ServerConfig defaults;
  ASSERT_TRUE(Parse(&defaults, {}));
  EXPECT_EQ(Value(defaults, "write-timeout"), "30");
  EXPECT_EQ(Value(defaults, "journal-sync-ms"), "50");
  EXPECT_EQ(Value(defaults, "snapshot-mib"), "1024");
  EXPECT_EQ(Value(defaults, "no-reflection"), "false");
  ServerConfig config;
  ASSERT_TRUE(Parse(&config, {"--write-timeout=0.5", "--journal-sync-ms=7", "--memory-mib=256", "--no-reflection"}));
  EXPECT_EQ(config.server.write_timeout, std::chrono::milliseconds(500));
  EXPECT_EQ(config.server.journal.sync_interval, std::chrono::milliseconds(7));
  EXPECT_EQ(config.server.limits.memory_bytes, int64_t{256} << 20);
  EXPECT_FALSE(config.server.reflection);
}

TEST(ServerConfig, RefusesWhatIsOutOfBounds) {
  for (const char* wrong : {"--memory-mib=-1", "--session-memory-mib=-1", "--max-streams=-1", "--idle-timeout=-1",
                            "--max-sessions=x", "--memory-mib=nan", "--write-timeout=nan", "--idle-timeout=nan", "--grace=-nan",
                            "--refusal-pause-ms=nan", "--idle-timeout=inf"}) {
    ServerConfig config;
    EXPECT_FALSE(Parse(&config, {wrong})) << wrong;
    EXPECT_EQ(config.exit_status(), 2) << wrong;
  }
}

TEST(ServerConfig, NamesTheNearestSettingForAnUnknownOne) {
  ServerConfig flag;
  EXPECT_FALSE(Parse(&flag, {"--max-sesions=8"}));
  EXPECT_THAT(flag.message(), HasSubstr("there is no setting 'max-sesions'; did you mean 'max-sessions'?"));

  const std::string file = ::testing::TempDir() + "/wrong.conf";
  std::ofstream(file) << "max-scenes = 9\nmax-sesions = 8\nqqqqqqqq = 1\n[server]\nmax-calls = 8\n";
  ServerConfig config;
  EXPECT_FALSE(Parse(&config, {"--config", file.c_str()}));
  EXPECT_EQ(config.exit_status(), 2);
  EXPECT_THAT(config.message(), AllOf(HasSubstr(file + ": there is no setting 'max-sesions'; did you mean 'max-sessions'?"),
                                      HasSubstr("there is no setting 'qqqqqqqq'; eipc-server --help lists them"),
                                      HasSubstr("there is no setting 'server.max-calls'"), Not(HasSubstr("'max-scenes'"))));

  ServerConfig missing;
  EXPECT_FALSE(Parse(&missing, {"--config", "/no/such/file"}));
  EXPECT_THAT(missing.message(), HasSubstr("/no/such/file"));
}

TEST(ServerConfig, HelpShowsDefaultsAndWhatCanBeReadAgain) {
  ServerConfig config;
  EXPECT_FALSE(Parse(&config, {"--help"}));
  EXPECT_EQ(config.exit_status(), 0);
  EXPECT_THAT(config.message(), AllOf(HasSubstr("--max-sessions"), HasSubstr("=64"), HasSubstr("[read again on SIGHUP]")));
}

}  // namespace
}  // namespace eipc
