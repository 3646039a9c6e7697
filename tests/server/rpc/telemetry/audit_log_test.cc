#include "server/rpc/telemetry/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace eipc::rpc {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Json> Entries(const std::string& path) {
  std::vector<Json> entries;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) entries.push_back(Json::parse(line));
  return entries;
}

std::string Fresh(const char* name) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::remove(path.c_str());
  return path;
}

TEST(AuditLog, AppendsALineAnEntryForItsOwnerAlone) {
  const std::string path = Fresh("audit");
  {
    const auto log = AuditLog::Open(path, nullptr);
    ASSERT_TRUE(log.ok()) << log.status();
    (*log)->Write({.action = "create",
                   .resource = "sessions/a",
                   .tenant = "lab",
                   .role = "operator",
                   .identity = "token:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                   .code = "OK"});
  }
  {
    const auto log = AuditLog::Open(path, nullptr);
    ASSERT_TRUE(log.ok());
    (*log)->Write({.action = "delete", .resource = std::string(10000, 'x'), .identity = "cert:arm-1"});
    (*log)->Write({.action = "not UTF-8: \xff"});
  }
  const std::vector<Json> entries = Entries(path);
  ASSERT_EQ(entries.size(), 3);
  EXPECT_EQ(entries[0].at("action"), "create");
  EXPECT_EQ(entries[0].at("tenant"), "lab");
  EXPECT_EQ(entries[0].at("identity"), "token:0123456789abcdef");  // enough to find the line of the access file
  EXPECT_FALSE(entries[0].contains("peer"));
  EXPECT_EQ(entries[1].at("identity"), "cert:arm-1");
  EXPECT_EQ(entries[1].at("resource").get<std::string>().size(), 256);
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600);
}

TEST(AuditLog, GoesOnInANewFileAfterRotation) {
  const std::string path = Fresh("rotated"), old = Fresh("rotated.1");
  {
    const auto log = AuditLog::Open(path, nullptr);
    ASSERT_TRUE(log.ok());
    (*log)->Write({.action = "first"});
    while ((*log)->counts().written < 1) {
    }
    ASSERT_EQ(std::rename(path.c_str(), old.c_str()), 0);
    ASSERT_TRUE((*log)->Reopen().ok());
    (*log)->Write({.action = "second"});
  }
  ASSERT_EQ(Entries(old).size(), 1);
  ASSERT_EQ(Entries(path).size(), 1);
  EXPECT_EQ(Entries(path)[0].at("action"), "second");
}

TEST(AuditLog, ReportsWhatItCannotWrite) {
  std::mutex mutex;
  std::vector<std::string> names;
  const EventSink sink = [&](const Event& event) {
    const std::lock_guard<std::mutex> lock(mutex);
    names.push_back(event.name);
  };
  {
    const auto log = AuditLog::Open("/dev/full", sink);
    ASSERT_TRUE(log.ok()) << log.status();
    (*log)->Write({.action = "create"});
    (*log)->Write({.action = "delete"});
    while ((*log)->counts().lost < 2) {
    }
  }
  EXPECT_THAT(names, ElementsAre("audit_failing"));
}

TEST(AuditLog, NamesTheSettingWhenTheFileCannotBeOpened) {
  EXPECT_THAT(std::string(AuditLog::Open("/no/such/folder/audit", nullptr).status().message()),
              HasSubstr("--audit-file /no/such/folder/audit: "));
}

}  // namespace
}  // namespace eipc::rpc
