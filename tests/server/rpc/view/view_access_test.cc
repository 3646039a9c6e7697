#include "server/rpc/view/view_access.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace eipc::rpc {
namespace {

ViewAccess::Clock::time_point g_now;
ViewAccess::Clock::time_point Now() { return g_now; }

class ViewAccessTest : public testing::Test {
 protected:
  void SetUp() override {
    g_now = ViewAccess::Clock::time_point() + std::chrono::hours(100);
    Write(absl::StrCat("token ", Sha256Hex("secret"), " alpha operator\n"));
    source_ = *AccessSource::Open(path_);
    ViewAccess::Options options;
    options.access = source_;
    options.port = 50080;
    options.origins = {"https://sim.example.org"};
    options.now = Now;
    access_ = std::make_unique<ViewAccess>(options);
  }
  void TearDown() override { std::remove(path_.c_str()); }
  void Write(const std::string& text) const { std::ofstream(path_) << text; }
  static std::string Pair(const std::string& header) { return header.substr(0, header.find(';')); }

  const std::string path_ = absl::StrCat(testing::TempDir(), "view_access_", getpid());
  std::shared_ptr<AccessSource> source_;
  std::unique_ptr<ViewAccess> access_;
};

TEST_F(ViewAccessTest, NamesAndOriginsOfOthersAreUnknown) {
  for (const char* host : {"127.0.0.1:50080", "localhost:50080", "[::1]:50080", "sim.example.org", "SIM.example.org"}) {
    EXPECT_TRUE(access_->KnowsHost(host)) << host;
  }
  for (const char* host :
       {"", "127.0.0.1", "127.0.0.1:50081", "evil.example", "sim.example.org.evil.example", "sim.example.org:444"}) {
    EXPECT_FALSE(access_->KnowsHost(host)) << host;
  }
  for (const char* origin : {"http://127.0.0.1:50080", "http://localhost:50080", "https://sim.example.org"}) {
    EXPECT_TRUE(access_->KnowsOrigin(origin)) << origin;
  }
  for (const char* origin :
       {"", "null", "https://127.0.0.1:50080", "http://sim.example.org", "http://127.0.0.1:50080.evil.example"}) {
    EXPECT_FALSE(access_->KnowsOrigin(origin)) << origin;
  }
}

TEST_F(ViewAccessTest, ATicketHoldsOnceAndForAMinute) {
  const Caller caller = *access_->ByToken("secret");
  const std::string ticket = access_->TicketFor(caller);
  EXPECT_FALSE(access_->Redeem("another").has_value());
  ASSERT_TRUE(access_->Redeem(ticket).has_value());
  EXPECT_FALSE(access_->Redeem(ticket).has_value());
  const std::string late = access_->TicketFor(caller);
  g_now += ViewAccess::kTicketLife;
  EXPECT_FALSE(access_->Redeem(late).has_value());
}

TEST_F(ViewAccessTest, ACookieEndsWithItsTimeItsSignOutOrItsToken) {
  EXPECT_FALSE(access_->ByToken("guess").has_value());
  const Caller caller = *access_->ByToken("secret");
  const std::string first = Pair(access_->CookieFor(caller, "127.0.0.1:50080"));
  EXPECT_EQ(access_->ByCookies(absl::StrCat("other=1; ", first))->tenant, "alpha");
  EXPECT_FALSE(access_->ByCookies("eipc_viewer_50080=0123456789abcdef").has_value());
  EXPECT_FALSE(access_->ByCookies("").has_value());
  access_->SignOut(first);
  EXPECT_FALSE(access_->ByCookies(first).has_value());

  const std::string second = Pair(access_->CookieFor(caller, "127.0.0.1:50080"));
  Write(absl::StrCat("token ", Sha256Hex("another"), " alpha operator\n"));
  ASSERT_TRUE(source_->Reload().ok());
  EXPECT_FALSE(access_->ByCookies(second).has_value());
  EXPECT_FALSE(access_->StillIn(caller));

  Write(absl::StrCat("token ", Sha256Hex("secret"), " alpha operator\n"));
  ASSERT_TRUE(source_->Reload().ok());
  EXPECT_TRUE(access_->ByCookies(second).has_value());
  g_now += ViewAccess::kCookieLife;
  EXPECT_FALSE(access_->ByCookies(second).has_value());
}

TEST_F(ViewAccessTest, CookiesAreForThisSiteAndItsScriptsCannotReadThem) {
  const Caller caller = *access_->ByToken("secret");
  const std::string plain = access_->CookieFor(caller, "localhost:50080");
  EXPECT_TRUE(absl::StrContains(plain, "; HttpOnly; SameSite=Strict;"));
  EXPECT_FALSE(absl::StrContains(plain, "Secure"));
  EXPECT_TRUE(absl::StrContains(access_->CookieFor(caller, "sim.example.org"), "; Secure"));
}

TEST_F(ViewAccessTest, OldCookiesMakeRoom) {
  const Caller caller = *access_->ByToken("secret");
  const std::string oldest = Pair(access_->CookieFor(caller, "localhost:50080"));
  std::string newest;
  for (size_t i = 0; i < ViewAccess::kMostCookies; ++i) newest = Pair(access_->CookieFor(caller, "localhost:50080"));
  EXPECT_FALSE(access_->ByCookies(oldest).has_value());
  EXPECT_TRUE(access_->ByCookies(newest).has_value());
}

TEST(OpenViewAccess, EveryoneMayWhoConnectsFromTheRightPage) {
  ViewAccess::Options options;
  options.port = 8000;
  const ViewAccess access(options);
  EXPECT_TRUE(access.ByCookies("").has_value());
  EXPECT_FALSE(access.KnowsHost("evil.example"));
}

}  // namespace
}  // namespace eipc::rpc
