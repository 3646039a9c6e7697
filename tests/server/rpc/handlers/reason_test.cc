#include "server/rpc/handlers/reason.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "sim/base/utf8.h"

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

TEST(ForWire, IsUtf8) {
  EXPECT_EQ(ForWire(absl::InvalidArgumentError("MESH_INVALID: got '\xff\xfe'")).message(), "MESH_INVALID: got '?\?'");
  EXPECT_EQ(ForWire(absl::InvalidArgumentError("MESH_INVALID: h\xc3\xa4lt")).message(), "MESH_INVALID: h\xc3\xa4lt");
}

// gRPC sends three bytes for each that is not printable ASCII, and takes no more than 8 KiB.
TEST(ForWire, CutsBetweenCharactersByWhatTheyTakeOnTheWire) {
  std::string text = "MESH_INVALID: ";
  for (int i = 0; i < 2000; ++i) text += "\xe2\x82\xac";
  const std::string cut(ForWire(absl::InvalidArgumentError(text)).message());
  EXPECT_EQ(ToUtf8(cut), cut);
  EXPECT_LT(cut.size(), 2600u);
  EXPECT_GT(cut.size(), 2000u);
}

}  // namespace
}  // namespace eipc::rpc
