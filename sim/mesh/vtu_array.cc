#include "sim/mesh/vtu_array.h"

#include <zlib.h>

#include <array>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

// Deflate cannot do better than this, so a header that claims more lies.
constexpr int64_t kMaxRatio = 1100;
constexpr int64_t kMaxBytes = int64_t{1} << 28;

absl::Status Damaged(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("binary data is damaged: ", what)); }

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
    if (count < 0 || count > static_cast<int64_t>(data_.size() - at_)) return Damaged("it is shorter than its header says");
    std::string bytes;
    if (!base64_) {
      bytes = std::string(data_.substr(at_, count));
      at_ += count;
      return bytes;
    }
    while (static_cast<int64_t>(bytes.size()) < count) {
      EIPC_RETURN_IF_ERROR(TakeGroup(&bytes));
    }
    bytes.resize(count);
    return bytes;
  }

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
};

absl::StatusOr<std::vector<int64_t>> Sizes(const std::string& bytes, const VtuEncoding& encoding) {
  ByteReader reader(bytes, encoding.order);
  std::vector<int64_t> sizes;
  while (reader.remaining() > 0) {
    const std::optional<int64_t> size = reader.Integer(encoding.header);
    if (!size || *size < 0) return Damaged("a size in its header");
    sizes.push_back(*size);
  }
  return sizes;
}

absl::StatusOr<std::string> Inflate(absl::string_view data, bool base64, const VtuEncoding& encoding) {
  const int64_t width = SizeOf(encoding.header);
  // The header is encoded as one: read its three fixed entries first to learn its length, then all of it.
  EIPC_ASSIGN_OR_RETURN(const std::string start, Source(data, base64).Take(3 * width));
  EIPC_ASSIGN_OR_RETURN(const std::vector<int64_t> fixed, Sizes(start, encoding));
  const int64_t blocks = fixed[0], block_size = fixed[1], last_size = fixed[2];
  if (blocks == 0) return std::string();
  if (blocks > static_cast<int64_t>(data.size()) / width || block_size > kMaxBytes || last_size > block_size)
    return Damaged("its header");
  Source source(data, base64);
  EIPC_ASSIGN_OR_RETURN(const std::string header, source.Take((3 + blocks) * width));
  EIPC_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, Sizes(header, encoding));
  int64_t compressed = 0;
  for (int64_t b = 0; b < blocks; ++b) {
    if (sizes[3 + b] > static_cast<int64_t>(data.size()) - compressed) return Damaged("it is shorter than its header says");
    compressed += sizes[3 + b];
  }
  EIPC_ASSIGN_OR_RETURN(const std::string packed, source.Take(compressed));
  std::string bytes;
  int64_t at = 0;
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t size = b + 1 == blocks && last_size > 0 ? last_size : block_size;
    if (size / kMaxRatio > sizes[3 + b] || static_cast<int64_t>(bytes.size()) + size > kMaxBytes) return Damaged("its header");
    const size_t begin = bytes.size();
    bytes.resize(begin + static_cast<size_t>(size));
    uLongf written = static_cast<uLongf>(size);
    const int result = uncompress(reinterpret_cast<Bytef*>(bytes.data() + begin), &written,
                                  reinterpret_cast<const Bytef*>(packed.data() + at), static_cast<uLong>(sizes[3 + b]));
    if (result != Z_OK || static_cast<int64_t>(written) != size) return Damaged("a zlib block");
    at += sizes[3 + b];
  }
  return bytes;
}

}  // namespace

absl::StatusOr<std::string> DecodeVtuArray(absl::string_view data, bool base64, const VtuEncoding& encoding) {
  if (encoding.zlib) return Inflate(data, base64, encoding);
  const int64_t width = SizeOf(encoding.header);
  EIPC_ASSIGN_OR_RETURN(const std::string header, Source(data, base64).Take(width));
  EIPC_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, Sizes(header, encoding));
  if (sizes[0] > static_cast<int64_t>(data.size())) return Damaged("it is shorter than its header says");
  EIPC_ASSIGN_OR_RETURN(const std::string bytes, Source(data, base64).Take(width + sizes[0]));
  return bytes.substr(static_cast<size_t>(width));
}

}  // namespace eipc
