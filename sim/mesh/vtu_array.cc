#include "sim/mesh/vtu_array.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

using Take = std::function<bool(absl::string_view piece)>;

// Deflate cannot do better than this, so a header that claims more lies.
constexpr int64_t kMaxRatio = 1100;
constexpr int64_t kPieceBytes = int64_t{1} << 16;

absl::Status Damaged(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("binary data is damaged: ", what)); }

absl::Status TooLong(int64_t bytes, int64_t most_bytes) {
  return absl::InvalidArgumentError(absl::StrCat("binary data declares ", bytes, " bytes or more; at most ", most_bytes,
                                                 " fit what the file says of its arrays"));
}

int Base64Value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Bytes out of base64 text, group by group of four: VTK encodes the header and the data apart, each with its own padding.
class Source {
 public:
  Source(absl::string_view data, bool base64) : data_(data), base64_(base64) {}

  absl::StatusOr<std::string> Take(int64_t count) {
    if (count < 0 || count > static_cast<int64_t>(data_.size() - at_ + carried_.size())) {
      return Damaged("it is shorter than its header says");
    }
    std::string bytes;
    if (!base64_) {
      bytes = std::string(data_.substr(at_, count));
      at_ += count;
      return bytes;
    }
    bytes.swap(carried_);
    while (static_cast<int64_t>(bytes.size()) < count) {
      EIPC_RETURN_IF_ERROR(TakeGroup(&bytes));
    }
    carried_ = bytes.substr(static_cast<size_t>(count));
    bytes.resize(static_cast<size_t>(count));
    return bytes;
  }
  // What follows was encoded apart: the rest of the last group is padding.
  void BeginPart() { carried_.clear(); }

 private:
  absl::Status TakeGroup(std::string* bytes) {
    std::array<int, 4> value;
    int padding = 0;
    for (int k = 0; k < 4; ++k) {
      while (at_ < data_.size() && (data_[at_] == ' ' || data_[at_] == '\n' || data_[at_] == '\r' || data_[at_] == '\t')) ++at_;
      if (at_ >= data_.size()) return Damaged("its base64 text ends early");
      const char c = data_[at_++];
      padding += c == '=';
      value[k] = c == '=' ? 0 : Base64Value(c);
      if (value[k] < 0 || (c != '=' && padding > 0)) return Damaged("not base64");
    }
    if (padding > 2) return Damaged("not base64");
    const int bits = value[0] << 18 | value[1] << 12 | value[2] << 6 | value[3];
    for (int k = 0; k < 3 - padding; ++k) bytes->push_back(static_cast<char>(bits >> (16 - 8 * k) & 0xff));
    return absl::OkStatus();
  }

  absl::string_view data_;
  bool base64_;
  size_t at_ = 0;
  std::string carried_;  // decoded with what was taken before
};

absl::StatusOr<std::vector<int64_t>> Sizes(const std::string& bytes, const VtuEncoding& encoding) {
  NumberReader reader(bytes, encoding.order);
  std::vector<int64_t> sizes;
  while (reader.remaining() > 0) {
    const std::optional<int64_t> size = reader.Integer(encoding.header);
    if (!size || *size < 0) return Damaged("a size in its header");
    sizes.push_back(*size);
  }
  return sizes;
}

// One zlib stream, which must give `size` bytes.
class BlockInflater {
 public:
  explicit BlockInflater(int64_t size) : left_(size), sound_(inflateInit(&stream_) == Z_OK) {}
  ~BlockInflater() { inflateEnd(&stream_); }
  BlockInflater(const BlockInflater&) = delete;
  BlockInflater& operator=(const BlockInflater&) = delete;

  // Inflates a part of the stream; false when `take` wants no more.
  absl::StatusOr<bool> Feed(const std::string& packed, const Take& take) {
    if (!sound_) return Damaged("a zlib block");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());
    while (!ended_) {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      const int64_t written = static_cast<int64_t>(buffer_.size()) - static_cast<int64_t>(stream_.avail_out);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) return Damaged("a zlib block");
      if (written > left_) return Damaged("a zlib block is longer than its header says");
      left_ -= written;
      ended_ = result == Z_STREAM_END;
      if (written > 0 && !take(absl::string_view(buffer_.data(), static_cast<size_t>(written)))) return false;
      if (stream_.avail_out > 0) break;  // more input is needed
    }
    return true;
  }
  bool done() const { return ended_ && left_ == 0; }

 private:
  z_stream stream_ = {};
  int64_t left_;
  bool sound_;
  bool ended_ = false;
  std::string buffer_ = std::string(kPieceBytes, '\0');
};

// Compressed blocks: how many, of what size, and how large each is in the file.
struct Blocks {
  int64_t size = 0, last_size = 0;
  std::vector<int64_t> packed;
  int64_t SizeOf(size_t block) const { return block + 1 == packed.size() && last_size > 0 ? last_size : size; }
};

absl::StatusOr<Blocks> ReadBlocks(absl::string_view data, bool base64, const VtuEncoding& encoding, int64_t most_bytes,
                                  Source* source) {
  const int64_t width = SizeOf(encoding.header);
  // The header is encoded as one: read its three fixed entries first to learn its length, then all of it.
  EIPC_ASSIGN_OR_RETURN(const std::string start, Source(data, base64).Take(3 * width));
  EIPC_ASSIGN_OR_RETURN(const std::vector<int64_t> fixed, Sizes(start, encoding));
  Blocks blocks;
  const int64_t count = fixed[0];
  blocks.size = fixed[1];
  blocks.last_size = fixed[2];
  if (count == 0) return blocks;
  if (count > static_cast<int64_t>(data.size()) / width || blocks.last_size > blocks.size) return Damaged("its header");
  if (count - 1 > most_bytes / std::max<int64_t>(1, blocks.size)) return TooLong(most_bytes + 1, most_bytes);
  const int64_t total = (count - 1) * blocks.size + (blocks.last_size > 0 ? blocks.last_size : blocks.size);
  if (total > most_bytes) return TooLong(total, most_bytes);
  EIPC_ASSIGN_OR_RETURN(const std::string header, source->Take((3 + count) * width));
  EIPC_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, Sizes(header, encoding));
  blocks.packed.assign(sizes.begin() + 3, sizes.end());
  int64_t compressed = 0;
  for (size_t b = 0; b < blocks.packed.size(); ++b) {
    if (blocks.packed[b] > static_cast<int64_t>(data.size()) - compressed) return Damaged("it is shorter than its header says");
    compressed += blocks.packed[b];
    if (blocks.SizeOf(b) / kMaxRatio > blocks.packed[b]) return Damaged("its header");
  }
  return blocks;
}

absl::Status Inflate(absl::string_view data, bool base64, const VtuEncoding& encoding, int64_t most_bytes, const Take& take) {
  Source source(data, base64);
  EIPC_ASSIGN_OR_RETURN(const Blocks blocks, ReadBlocks(data, base64, encoding, most_bytes, &source));
  source.BeginPart();
  for (size_t b = 0; b < blocks.packed.size(); ++b) {
    BlockInflater inflater(blocks.SizeOf(b));
    for (int64_t left = blocks.packed[b]; left > 0;) {
      EIPC_ASSIGN_OR_RETURN(const std::string packed, source.Take(std::min(left, kPieceBytes)));
      left -= static_cast<int64_t>(packed.size());
      EIPC_ASSIGN_OR_RETURN(const bool more, inflater.Feed(packed, take));
      if (!more) return absl::OkStatus();
    }
    if (!inflater.done()) return Damaged("a zlib block");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeVtuArray(absl::string_view data, bool base64, const VtuEncoding& encoding, int64_t most_bytes,
                            const Take& take) {
  if (encoding.zlib) return Inflate(data, base64, encoding, most_bytes, take);
  Source source(data, base64);
  EIPC_ASSIGN_OR_RETURN(const std::string header, source.Take(SizeOf(encoding.header)));
  EIPC_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, Sizes(header, encoding));
  if (sizes[0] > static_cast<int64_t>(data.size())) return Damaged("it is shorter than its header says");
  if (sizes[0] > most_bytes) return TooLong(sizes[0], most_bytes);
  for (int64_t left = sizes[0]; left > 0;) {
    EIPC_ASSIGN_OR_RETURN(const std::string piece, source.Take(std::min(left, kPieceBytes)));
    left -= static_cast<int64_t>(piece.size());
    if (!take(piece)) break;
  }
  return absl::OkStatus();
}

}  // namespace eipc
