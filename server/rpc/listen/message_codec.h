#ifndef EIPC_SERVER_RPC_LISTEN_MESSAGE_CODEC_H_
#define EIPC_SERVER_RPC_LISTEN_MESSAGE_CODEC_H_

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/session/memory_budget.h"

namespace eipc::rpc {

// Sets aside what a message takes that has arrived, until it is handled. RESOURCE_EXHAUSTED (MEMORY_BUDGET) when it does not fit.
// A small one, such as a request for steps, always does: running sessions continue whatever others hold, and the calls that can be
// open bound how many small messages there are.
absl::StatusOr<MemoryBudget::Share> TakeArrived(MemoryBudget* budget, const grpc::ByteBuffer& bytes);

// Memory of one message that is being parsed, beside what has arrived: what the parser takes beyond what is set aside in the
// budget, or beyond what a message of its size may need, is refused.
class ParseMemory {
 public:
  // Sets aside what a message of `wire_bytes` needs at least.
  absl::Status Begin(MemoryBudget* budget, int64_t wire_bytes);
  bool Take(int64_t bytes);
  bool refused() const { return refused_; }

 private:
  MemoryBudget::Share share_;
  int64_t spare_ = 0;  // set aside, not used yet
  int64_t left_ = 0;   // that this message may take
  bool refused_ = false;
};

// Parses `bytes` into `message`, which is on an arena made with BudgetedArena. Fields that are not known are dropped; how many
// there may be follows from the memory.
//
// INVALID_ARGUMENT (INVALID_REQUEST) when it is no such message, RESOURCE_EXHAUSTED (MEMORY_BUDGET) when it needs too much memory.
absl::Status ParseMessage(grpc::ByteBuffer* bytes, ParseMemory* memory, google::protobuf::Message* message);
google::protobuf::ArenaOptions BudgetedArena(char* initial_block, size_t initial_bytes);

// A request and the memory it is in.
class ParsedMessage {
 public:
  ParsedMessage() : arena_(BudgetedArena(first_block_, sizeof(first_block_))) {}
  // `empty` is of the type that is expected.
  absl::Status Parse(const google::protobuf::Message& empty, MemoryBudget* budget, grpc::ByteBuffer* bytes) {
    if (absl::Status status = memory_.Begin(budget, static_cast<int64_t>(bytes->Length())); !status.ok()) return status;
    message_ = empty.New(&arena_);
    return ParseMessage(bytes, &memory_, message_);
  }
  google::protobuf::Message* get() { return message_; }

 private:
  ParseMemory memory_;  // given back after the arena
  alignas(16) char first_block_[2048];
  google::protobuf::Arena arena_;
  google::protobuf::Message* message_ = nullptr;
};

// The same of a type that is known.
template <typename Message>
class Parsed {
 public:
  absl::Status Parse(MemoryBudget* budget, grpc::ByteBuffer* bytes) {
    return parsed_.Parse(Message::default_instance(), budget, bytes);
  }
  const Message& operator*() { return *get(); }
  Message* get() { return static_cast<Message*>(parsed_.get()); }

 private:
  ParsedMessage parsed_;
};

absl::Status SerializeMessage(const google::protobuf::Message& message, grpc::ByteBuffer* bytes);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_MESSAGE_CODEC_H_
