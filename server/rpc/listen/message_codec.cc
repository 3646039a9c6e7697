#include "server/rpc/listen/message_codec.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <cstdlib>
#include <new>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Objects of messages are several times larger than what they are on the wire: an empty message takes two bytes there.
constexpr int64_t kMostPerWireByte = 16;
constexpr int64_t kMostAnyway = int64_t{1} << 20;
// Text and bytes are kept once beside the arrived message.
constexpr int64_t kSetAsidePerWireByte = 1;
// Messages up to this size are small.
constexpr int64_t kSmall = 16 << 10;
// An entry of an UnknownFieldSet, whose list grows by doubling, and a string of its own.
constexpr int64_t kPerUnknownField = 96;
constexpr int kMostNested = 100;
// Set aside in steps of this.
constexpr int64_t kStep = 64 << 10;

// Of this thread: whose message the arena that allocates belongs to.
thread_local ParseMemory* parsing = nullptr;

void* AllocateBlock(size_t bytes) {
  if (parsing != nullptr && !parsing->Take(static_cast<int64_t>(bytes))) throw std::bad_alloc();
  void* const block = std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void FreeBlock(void* block, size_t) { std::free(block); }

class ParsingScope {
 public:
  explicit ParsingScope(ParseMemory* memory) { parsing = memory; }
  ~ParsingScope() { parsing = nullptr; }
};

bool FitsField(const FieldDescriptor& field, WireFormatLite::WireType wire) {
  if (field.is_packable() && wire == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) return true;
  return WireFormatLite::WireTypeForFieldType(static_cast<WireFormatLite::FieldType>(field.type())) == wire;
}

// Counts the fields that the message does not know, which the parser keeps outside of the arena. False when it is no message.
bool CountUnknown(const Descriptor& type, CodedInputStream* in, int depth, int64_t* count) {
  if (depth > kMostNested) return false;
  while (const uint32_t tag = in->ReadTag()) {
    const FieldDescriptor* const field = type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    if (field == nullptr || !FitsField(*field, WireFormatLite::GetTagWireType(tag))) {
      // A group may hold many more: each takes at least two bytes.
      const int begin = in->CurrentPosition();
      if (!WireFormatLite::SkipField(in, tag)) return false;
      *count +=
          WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_START_GROUP ? (in->CurrentPosition() - begin) / 2 + 1 : 1;
      continue;
    }
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!WireFormatLite::SkipField(in, tag)) return false;
      continue;
    }
    uint32_t size = 0;
    if (!in->ReadVarint32(&size) || static_cast<int64_t>(size) > INT32_MAX) return false;
    const CodedInputStream::Limit limit = in->PushLimit(static_cast<int>(size));
    if (!CountUnknown(*field->message_type(), in, depth + 1, count) || in->BytesUntilLimit() != 0) return false;
    in->PopLimit(limit);
  }
  return in->ConsumedEntireMessage();
}

absl::Status NoMessage(const google::protobuf::Message& message) {
  return absl::InvalidArgumentError(
      absl::StrCat("INVALID_REQUEST: the bytes are no message of type ", message.GetDescriptor()->full_name()));
}

absl::StatusOr<MemoryBudget::Share> TakeMessage(MemoryBudget* budget, int64_t wire_bytes, int64_t memory_bytes) {
  if (wire_bytes <= kSmall) return budget->Record(memory_bytes);
  return budget->TakeForMessage(memory_bytes, "the message");
}

absl::Status TooMuch(int64_t wire_bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("MEMORY_BUDGET: the message of ", wire_bytes,
                   " bytes needs more memory than the server gives one of its size; send less at once"));
}

}  // namespace

absl::StatusOr<MemoryBudget::Share> TakeArrived(MemoryBudget* budget, const grpc::ByteBuffer& bytes) {
  const auto size = static_cast<int64_t>(bytes.Length());
  return TakeMessage(budget, size, size);
}

absl::Status ParseMemory::Begin(MemoryBudget* budget, int64_t wire_bytes) {
  EIPC_ASSIGN_OR_RETURN(share_, TakeMessage(budget, wire_bytes, kSetAsidePerWireByte * wire_bytes + kStep));
  spare_ = kStep;
  left_ = kMostPerWireByte * wire_bytes + kMostAnyway;
  return absl::OkStatus();
}

bool ParseMemory::Take(int64_t bytes) {
  if (bytes > left_) {
    refused_ = true;
    return false;
  }
  if (bytes > spare_) {
    const int64_t more = (bytes - spare_ + kStep - 1) / kStep * kStep;
    if (!share_.Extend(more)) {
      refused_ = true;
      return false;
    }
    spare_ += more;
  }
  left_ -= bytes;
  spare_ -= bytes;
  return true;
}

google::protobuf::ArenaOptions BudgetedArena(char* initial_block, size_t initial_bytes) {
  google::protobuf::ArenaOptions options;
  options.initial_block = initial_block;
  options.initial_block_size = initial_bytes;
  options.start_block_size = 4 << 10;
  options.max_block_size = 64 << 10;
  options.block_alloc = AllocateBlock;
  options.block_dealloc = FreeBlock;
  return options;
}

absl::Status ParseMessage(grpc::ByteBuffer* bytes, ParseMemory* memory, google::protobuf::Message* message) {
  const auto size = static_cast<int64_t>(bytes->Length());
  if (size == 0) return absl::OkStatus();
  int64_t unknown = 0;
  {
    grpc::ProtoBufferReader reader(bytes);
    if (!reader.status().ok()) return NoMessage(*message);
    CodedInputStream in(&reader);
    in.SetTotalBytesLimit(INT32_MAX);
    if (!CountUnknown(*message->GetDescriptor(), &in, 0, &unknown)) return NoMessage(*message);
  }
  if (unknown > 0 && !memory->Take(unknown * kPerUnknownField)) return TooMuch(size);
  grpc::ProtoBufferReader reader(bytes);
  try {
    const ParsingScope scope(memory);
    if (!message->ParseFromZeroCopyStream(&reader)) return NoMessage(*message);
  } catch (const std::bad_alloc&) {
    if (memory->refused()) return TooMuch(size);
    throw;
  }
  if (unknown > 0) message->DiscardUnknownFields();
  return absl::OkStatus();
}

absl::Status SerializeMessage(const google::protobuf::Message& message, grpc::ByteBuffer* bytes) {
  const size_t size = message.ByteSizeLong();
  if (size > INT32_MAX) return absl::ResourceExhaustedError("ANSWER_TOO_LARGE: the answer would have more than 2 GiB");
  if (size == 0) {
    const grpc::Slice empty;
    *bytes = grpc::ByteBuffer(&empty, 1);
    return absl::OkStatus();
  }
  bytes->Clear();
  grpc::ProtoBufferWriter writer(bytes, grpc::kProtoBufferWriterMaxBufferLength, static_cast<int>(size));
  if (!message.SerializeToZeroCopyStream(&writer)) return absl::InternalError("INTERNAL: the answer cannot be written");
  return absl::OkStatus();
}

}  // namespace eipc::rpc
