// `eipc ccd-query` on the project's own query set, as a user calls it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/sim/geometry/ccd_query_files.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Outcome {
  int status = -1;
  std::string output;
};

Outcome Eipc(const std::string& arguments) {
  const char* folder = std::getenv("EIPC_BINARY_DIR");
  const std::string command = std::string(folder != nullptr ? folder : ".") + "/bin/eipc " + arguments + " 2>&1";
  Outcome out;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  char text[4096];
  while (std::fgets(text, sizeof(text), pipe) != nullptr) out.output += text;
  const int status = pclose(pipe);
  if (WIFEXITED(status)) out.status = WEXITSTATUS(status);
  return out;
}

class CcdQueryCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("ccd_query_command_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    ccd_test::WriteQuerySet(folder_, 5'000'000, 2000);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string File(const char* name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(CcdQueryCommand, NoFalseNegativesOnTheGeneratedSet) {
  const Outcome run = Eipc("ccd-query " + File("queries/0ee.csv") + " " + File("queries/0vf.csv"));
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("total: queries 2000, false negatives 0, false positives"));
  EXPECT_THAT(run.output, HasSubstr("iterations mean"));
}

// Every answer turned round: what was a hit is now called a miss, and the status says so.
TEST_F(CcdQueryCommand, FalseNegativesEndWithStatusOne) {
  std::ofstream truth(File("all.json"));
  int lines = 0;
  std::ifstream csv(File("queries/0ee.csv"));
  for (std::string line; std::getline(csv, line);) ++lines;
  for (int i = 0; i < lines / 8; ++i) truth << (i == 0 ? "[true" : ", true");
  truth << "]";
  truth.close();
  const Outcome run = Eipc("ccd-query --truth " + File("all.json") + " " + File("queries/0ee.csv"));
  EXPECT_EQ(run.status, 1) << run.output;
}

TEST_F(CcdQueryCommand, WhatCannotBeReadEndsWithStatusTwo) {
  const Outcome run = Eipc("ccd-query " + File("queries/none-ee.csv"));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.output, HasSubstr("none-ee.csv"));
}

}  // namespace
}  // namespace eipc
