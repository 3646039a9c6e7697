#ifndef EIPC_SIM_MESH_NUMBER_READER_H_
#define EIPC_SIM_MESH_NUMBER_READER_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/strings/string_view.h"

namespace eipc {

// A number as binary mesh formats name them.
enum class NumberKind { kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kInt64, kUint64, kFloat32, kFloat64 };

constexpr int64_t SizeOf(NumberKind kind) {
  constexpr int64_t kSizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return kSizes[static_cast<int>(kind)];
}
constexpr bool IsReal(NumberKind kind) { return kind == NumberKind::kFloat32 || kind == NumberKind::kFloat64; }

// Walks the numbers of a binary mesh file, of any kind and byte order; never beyond the end.
class NumberReader {
 public:
  explicit NumberReader(absl::string_view bytes, std::endian order = std::endian::little) : bytes_(bytes), order_(order) {}

  int64_t remaining() const { return static_cast<int64_t>(bytes_.size() - at_); }
  absl::string_view rest() const { return bytes_.substr(at_); }
  size_t at() const { return at_; }
  // Whether `count` items of `size` bytes are left; safe from overflow.
  bool HasRoom(int64_t count, int64_t size) const { return count >= 0 && (size <= 0 || count <= remaining() / size); }

  template <typename T>
  std::optional<T> Read() {
    if (remaining() < static_cast<int64_t>(sizeof(T))) return std::nullopt;
    char raw[sizeof(T)];
    std::memcpy(raw, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    if (order_ != std::endian::native) std::reverse(raw, raw + sizeof(T));
    T value;
    std::memcpy(&value, raw, sizeof(T));
    return value;
  }
  std::optional<double> Real(NumberKind kind) { return ReadAs<double>(kind); }
  // A real is cut off to an integer when it fits; an unsigned beyond int64 becomes none.
  std::optional<int64_t> Integer(NumberKind kind) {
    if (IsReal(kind)) {
      const std::optional<double> value = Real(kind);
      if (!value || !(*value > -9e15 && *value < 9e15)) return std::nullopt;
      return static_cast<int64_t>(*value);
    }
    const std::optional<int64_t> value = ReadAs<int64_t>(kind);
    return value && kind == NumberKind::kUint64 && *value < 0 ? std::nullopt : value;
  }

 private:
  template <typename To, typename From>
  std::optional<To> Convert() {
    const std::optional<From> value = Read<From>();
    return value ? std::optional<To>(static_cast<To>(*value)) : std::nullopt;
  }
  template <typename To>
  std::optional<To> ReadAs(NumberKind kind) {
    switch (kind) {
      case NumberKind::kInt8:
        return Convert<To, int8_t>();
      case NumberKind::kUint8:
        return Convert<To, uint8_t>();
      case NumberKind::kInt16:
        return Convert<To, int16_t>();
      case NumberKind::kUint16:
        return Convert<To, uint16_t>();
      case NumberKind::kInt32:
        return Convert<To, int32_t>();
      case NumberKind::kUint32:
        return Convert<To, uint32_t>();
      case NumberKind::kInt64:
        return Convert<To, int64_t>();
      case NumberKind::kUint64:
        return Convert<To, uint64_t>();
      case NumberKind::kFloat32:
        // Integers of a real kind go through Integer(); a float beyond To would be undefined.
        if constexpr (std::is_same_v<To, double>) return Convert<To, float>();
        return std::nullopt;
      case NumberKind::kFloat64:
        if constexpr (std::is_same_v<To, double>) return Convert<To, double>();
        return std::nullopt;
    }
    return std::nullopt;
  }

  absl::string_view bytes_;
  std::endian order_;
  size_t at_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_MESH_NUMBER_READER_H_
