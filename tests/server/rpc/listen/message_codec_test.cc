#include "server/rpc/listen/message_codec.h"

#include <gmock/gmock.h>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "eipc/v1/service.pb.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::rpc {
namespace {

using testing::FallingBlock;

grpc::ByteBuffer Buffer(const std::string& bytes, size_t piece = 1000) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += piece) slices.emplace_back(bytes.substr(at, piece));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}

std::string Field(int number, const std::string& content) {
  return Varint(static_cast<uint64_t>(number) << 3 | 2) + Varint(content.size()) + content;
}

std::string Repeat(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

template <typename Message>
absl::Status Try(const std::string& bytes, MemoryBudget* budget) {
  Parsed<Message> parsed;
  grpc::ByteBuffer buffer = Buffer(bytes);
  return parsed.Parse(budget, &buffer);
}

TEST(MessageCodec, ReadsWhatIsThere) {
  v1::CreateSceneRequest request;
  *request.mutable_scene() = FallingBlock();
  MemoryBudget budget(8 << 20, 0);
  {
    Parsed<v1::CreateSceneRequest> parsed;
    grpc::ByteBuffer buffer = Buffer(request.SerializeAsString(), 7);
    ASSERT_TRUE(parsed.Parse(&budget, &buffer).ok());
    EXPECT_EQ((*parsed).SerializeAsString(), request.SerializeAsString());
    EXPECT_GT(budget.used(), 0);
  }
  EXPECT_EQ(budget.used(), 0);
}

TEST(MessageCodec, DropsUnknownFieldsAtEveryDepth) {
  const std::string junk = Field(1023, std::string(5000, 'x')) + std::string("\xf8\x3f\x01", 3);
  v1::StepRequest step;
  step.set_request_id("r");
  const std::string inner = Field(4, junk);  // Scene.bodies
  const std::string bytes = junk + Field(1, junk + inner);
  Parsed<v1::CreateSceneRequest> parsed;
  MemoryBudget budget(0, 0);
  grpc::ByteBuffer buffer = Buffer(bytes);
  ASSERT_TRUE(parsed.Parse(&budget, &buffer).ok());
  ASSERT_EQ((*parsed).scene().bodies_size(), 1);
  EXPECT_LT((*parsed).ByteSizeLong(), 16u);
}

// Two bytes each on the wire, a hundred times as much in memory.
TEST(MessageCodec, RefusesEmptyMessagesWithoutEnd) {
  const std::string bytes = Field(1, Repeat(std::string("\x22\0", 2), 2 << 20));  // Scene.bodies
  MemoryBudget unbounded(0, 0);
  const absl::Status large = Try<v1::CreateSceneRequest>(bytes, &unbounded);
  EXPECT_EQ(large.code(), absl::StatusCode::kResourceExhausted) << large;
  EXPECT_THAT(std::string(large.message()), ::testing::StartsWith("MEMORY_BUDGET: "));
  MemoryBudget bounded(16 << 20, 0);
  EXPECT_EQ(Try<v1::CreateSceneRequest>(bytes, &bounded).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(bounded.used(), 0);
}

TEST(MessageCodec, RefusesUnknownFieldsWithoutEnd) {
  MemoryBudget unbounded(0, 0);
  EXPECT_EQ(Try<v1::StepRequest>(Repeat(Field(1023, ""), 1 << 20), &unbounded).code(), absl::StatusCode::kResourceExhausted);
  // The same within a group, which is one unknown field of the message.
  const std::string group = Varint(1023 << 3 | 3) + Repeat(std::string("\x0a\0", 2), 1 << 20) + Varint(1023 << 3 | 4);
  EXPECT_EQ(Try<v1::StepRequest>(group, &unbounded).code(), absl::StatusCode::kResourceExhausted);
}

TEST(MessageCodec, WhatHasArrivedCountsUntilItIsHandled) {
  MemoryBudget budget(1 << 20, 0);
  {
    const auto share = TakeArrived(&budget, Buffer(std::string(600'000, 'x')));
    ASSERT_TRUE(share.ok());
    EXPECT_EQ(budget.used(), 600'000);
    const absl::Status refused = TakeArrived(&budget, Buffer(std::string(600'000, 'x'))).status();
    EXPECT_THAT(std::string(refused.message()), ::testing::StartsWith("MEMORY_BUDGET: the message "));
  }
  EXPECT_EQ(budget.used(), 0);
}

// Sessions that run go on when others have taken all of the memory.
TEST(MessageCodec, SmallMessagesAreReadWhateverOthersHold) {
  MemoryBudget budget(1 << 20, 0);
  const MemoryBudget::Share others = budget.Record(2 << 20);
  v1::StepRequest step;
  step.set_session("sessions/1");
  for (int i = 0; i < 50; ++i) step.add_targets()->set_body("a frame");
  const std::string bytes = step.SerializeAsString();
  EXPECT_TRUE(TakeArrived(&budget, Buffer(bytes)).ok());
  EXPECT_TRUE(Try<v1::StepRequest>(bytes, &budget).ok());
  EXPECT_EQ(budget.used(), others.bytes());
  EXPECT_EQ(Try<v1::StepRequest>(Field(1, std::string(100'000, 'x')), &budget).code(), absl::StatusCode::kResourceExhausted);
}

TEST(MessageCodec, RefusesWhatIsNoMessage) {
  MemoryBudget budget(0, 0);
  for (const std::string& bytes : {std::string("\xff"), std::string("\x0a\x05x"), std::string("\x0a\xff\xff\xff\xff\xff\xff"),
                                   Field(1, "\xff\xfe"), std::string("\x0c"), std::string("\0\0", 2)}) {
    EXPECT_EQ(Try<v1::StepRequest>(bytes, &budget).code(), absl::StatusCode::kInvalidArgument) << bytes.size();
  }
  EXPECT_EQ(budget.used(), 0);
}

// Bytes at random, and messages with bytes changed at random: read, or refused, as protobuf itself has it.
TEST(MessageCodec, AgreesWithTheParserOfProtobuf) {
  v1::CreateSceneRequest request;
  *request.mutable_scene() = FallingBlock();
  const std::string good = request.SerializeAsString();
  std::mt19937 random(7);
  MemoryBudget budget(0, 0);
  const google::protobuf::LogSilencer silence;  // bytes that are no text are logged at length
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    for (int change = 0; change < 1 + i % 4; ++change) bytes[random() % bytes.size()] = static_cast<char>(random());
    v1::CreateSceneRequest expected;
    const bool ok = expected.ParseFromString(bytes);
    expected.DiscardUnknownFields();
    Parsed<v1::CreateSceneRequest> parsed;
    grpc::ByteBuffer buffer = Buffer(bytes, 1 + random() % 100);
    ASSERT_EQ(parsed.Parse(&budget, &buffer).ok(), ok) << i;
    if (!ok) continue;
    ++read;
    EXPECT_EQ((*parsed).SerializeAsString(), expected.SerializeAsString()) << i;
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace eipc::rpc
