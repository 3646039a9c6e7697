#include "server/check_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "server/session/access.h"
#include "server/session/journal.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CheckConfigTest : public ::testing::Test {
 protected:
  CheckConfigTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::string File(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    chmod(Path(name).c_str(), 0600);
    return Path(name);
  }

  const std::string folder_ = ::testing::TempDir() + "/check_config";
  ServerConfig config_;
};

TEST_F(CheckConfigTest, FindsNothingWrongWithTheDefaults) {
  const ConfigReport report = CheckConfig(config_);
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_THAT(report.notes, IsEmpty());
}

// Every problem at once, not the first one.
TEST_F(CheckConfigTest, NamesEverySettingThatIsWrong) {
  config_.server.listen = "127.0.0.1";
  config_.server.metrics = "0.0.0.0:9464";
  config_.server.access_file = File("access", "token x lab operator\n");
  config_.server.meshes.scene_folder = Path("none");
  config_.server.journal.folder = Path("access");
  config_.server.audit_file = folder_;
  EXPECT_THAT(CheckConfig(config_).problems,
              ElementsAre(HasSubstr("access: line 1: a token is given by its SHA-256"), HasSubstr("'127.0.0.1'"),
                          HasSubstr("only loopback addresses"), AllOf(HasSubstr("--state-dir"), HasSubstr("is not a folder")),
                          AllOf(HasSubstr("--mesh-root"), HasSubstr("is not a folder")),
                          AllOf(HasSubstr("--audit-file"), HasSubstr("is a folder"))));
}

TEST_F(CheckConfigTest, AnAccessFileThatOthersMayWriteToIsAProblem) {
  config_.server.access_file = File("access", "token " + Sha256Hex("a") + " lab operator\n");
  EXPECT_THAT(CheckConfig(config_).problems, IsEmpty());
  chmod(config_.server.access_file.c_str(), 0622);
  EXPECT_THAT(CheckConfig(config_).problems, ElementsAre(HasSubstr("others may write to it (mode 0622)")));
}

TEST_F(CheckConfigTest, CreatesNothingAndSeesARunningServer) {
  config_.server.journal.folder = Path("state");
  config_.server.audit_file = Path("state/audit");
  EXPECT_THAT(CheckConfig(config_).problems, IsEmpty());
  EXPECT_FALSE(fs::exists(Path("state")));

  fs::create_directory(Path("state"));
  chmod(Path("state").c_str(), 0755);
  EXPECT_THAT(CheckConfig(config_).notes, ElementsAre(HasSubstr("mode 0755")));
  chmod(Path("state").c_str(), 0700);
  EXPECT_THAT(CheckConfig(config_).notes, IsEmpty());
  {
    const auto journal = JournalStore::Open(config_.server.journal);
    ASSERT_TRUE(journal.ok()) << journal.status();
    const ConfigReport report = CheckConfig(config_);
    EXPECT_THAT(report.problems, IsEmpty());
    EXPECT_THAT(report.notes, ElementsAre(HasSubstr("a server uses this folder now")));
  }
  EXPECT_THAT(CheckConfig(config_).notes, IsEmpty());
}

}  // namespace
}  // namespace eipc
