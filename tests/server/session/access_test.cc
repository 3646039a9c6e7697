#include "server/session/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace eipc {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string TokenLine(const std::string& token, const std::string& rest) { return "token " + Sha256Hex(token) + " " + rest + "\n"; }

TEST(AccessList, KnowsTokensByTheirHash) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const auto list = AccessList::Parse("# comment\n\n token " + Sha256Hex("secret") + "\tlab viewer\ncert arm-1 fab operator\n");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->ByToken("secret")->tenant, "lab");
  EXPECT_EQ(list->ByToken("secret")->role, Role::kViewer);
  EXPECT_FALSE(list->ByToken("Secret").has_value());
  EXPECT_FALSE(list->ByToken("").has_value());
  EXPECT_EQ(list->ByCertificate("arm-1")->role, Role::kOperator);
  EXPECT_FALSE(list->ByCertificate("arm-2").has_value());
}

TEST(AccessList, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"token secret lab viewer", "token", "cert a b c", "key a b operator", "cert a b operator extra"}) {
    EXPECT_THAT(std::string(AccessList::Parse(text).status().message()), StartsWith("line 1: ")) << text;
  }
}

// Two lines for one key: which of them counts must not be a matter of order.
TEST(AccessList, RefusesAKeyTwice) {
  const auto list = AccessList::Parse(TokenLine("a", "lab viewer") + TokenLine("a", "fab operator"));
  EXPECT_THAT(std::string(list.status().message()), StartsWith("line 2: the same token is in an earlier line"));
}

TEST(AccessList, TellsWhetherACallerIsStillLetIn) {
  const Caller lab = *AccessList::Parse(TokenLine("a", "lab viewer"))->ByToken("a");
  EXPECT_EQ(lab.identity, "token:" + Sha256Hex("a"));
  EXPECT_TRUE(AccessList::Parse(TokenLine("b", "fab viewer") + TokenLine("a", "lab viewer"))->StillKnows(lab));
  EXPECT_FALSE(AccessList::Parse(TokenLine("b", "lab viewer"))->StillKnows(lab));
  EXPECT_FALSE(AccessList::Parse(TokenLine("a", "fab viewer"))->StillKnows(lab));
  EXPECT_FALSE(AccessList::Parse(TokenLine("a", "lab operator"))->StillKnows(lab));
  const Caller arm = *AccessList::Parse("cert arm:1 fab operator")->ByCertificate("arm:1");
  EXPECT_TRUE(AccessList::Parse("cert arm:1 fab operator")->StillKnows(arm));
  EXPECT_FALSE(AccessList::Parse(TokenLine("a", "fab operator"))->StillKnows(arm));
}

TEST(AccessSource, ReadsItsFileAgainAndKeepsTheOldListWhenTheNewOneIsWrong) {
  const std::string path = ::testing::TempDir() + "/access";
  Write(path, TokenLine("old", "lab operator"));
  const auto source = AccessSource::Open(path);
  ASSERT_TRUE(source.ok()) << source.status();
  const std::shared_ptr<const AccessList> taken = (*source)->Get();

  Write(path, TokenLine("new", "lab operator"));
  EXPECT_FALSE((*source)->Get()->ByToken("new").has_value());
  ASSERT_TRUE((*source)->Reload().ok());
  EXPECT_TRUE((*source)->Get()->ByToken("new").has_value());
  EXPECT_FALSE((*source)->Get()->ByToken("old").has_value());
  EXPECT_TRUE(taken->ByToken("old").has_value());

  for (const char* wrong : {"", "# nobody\n", "token secret lab operator\n"}) {
    Write(path, wrong);
    EXPECT_THAT(std::string((*source)->Reload().message()), HasSubstr(path)) << wrong;
    EXPECT_TRUE((*source)->Get()->ByToken("new").has_value());
  }
  std::remove(path.c_str());
  EXPECT_FALSE((*source)->Reload().ok());
  EXPECT_TRUE((*source)->Get()->ByToken("new").has_value());
}

}  // namespace
}  // namespace eipc
