#include "server/rpc/handlers/reason.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace eipc::rpc {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

TEST(ForWire, KeepsAReason) {
  EXPECT_EQ(ForWire(absl::AbortedError("STEP_MISMATCH: text")).message(), "STEP_MISMATCH: text");
  EXPECT_TRUE(ForWire(absl::OkStatus()).ok());
}

TEST(ForWire, GivesOneToThoseWithout) {
  EXPECT_EQ(ForWire(absl::InvalidArgumentError("dt: bad")).message(), "INVALID_ARGUMENT: dt: bad");
  EXPECT_EQ(ForWire(absl::CancelledError("step cancelled")).message(), "CANCELLED: step cancelled");
  EXPECT_EQ(ForWire(absl::InternalError("")).message(), "INTERNAL: ");
  EXPECT_EQ(ForWire(absl::InternalError("Bodies: x")).message(), "INTERNAL: Bodies: x");
}

TEST(ForWire, CutsLongListsAtALine) {
  std::string text = "SCENE_INVALID: all wrong:";
  for (int i = 0; i < 500; ++i) absl::StrAppend(&text, "\nbodies[", i, "]: wrong");
  const absl::Status status = ForWire(absl::InvalidArgumentError(text));
  EXPECT_LT(status.message().size(), 3600u);
  EXPECT_THAT(std::string(status.message()), StartsWith("SCENE_INVALID: all wrong:\nbodies[0]: wrong\n"));
  EXPECT_THAT(std::string(status.message()), EndsWith(" more lines"));
  // What is kept and what is counted make up the whole.
  int kept = 0;
  for (const char c : status.message()) kept += c == '\n' ? 1 : 0;
  EXPECT_THAT(std::string(status.message()), EndsWith(absl::StrCat("and ", 500 - (kept - 1), " more lines")));
}

}  // namespace
}  // namespace eipc::rpc
