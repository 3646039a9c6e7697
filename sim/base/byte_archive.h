#ifndef EIPC_SIM_BASE_BYTE_ARCHIVE_H_
#define EIPC_SIM_BASE_BYTE_ARCHIVE_H_

// Values to little-endian bytes and back. Writer and reader have the same methods, so that one function that visits the fields of a
// type both stores and loads it:
//
//   template <typename Archive, typename T>
//   void Visit(Archive& archive, T& thing) {
//     archive.Value(thing.count);
//     archive.Vector(thing.positions);
//     archive.Each(thing.parts, [&](auto& part) { archive.Value(part.weight); });
//   }

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/string_view.h"
#include "sim/base/types.h"

namespace eipc {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie in memory");

class ByteWriter {
 public:
  // Room for so many bytes in all, so that they are not moved as they become more.
  void Reserve(size_t bytes) { bytes_.reserve(bytes); }
  template <typename T>
  void Value(const T& value) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void Value(const bool& value) { Value(static_cast<uint8_t>(value)); }
  void Vector(const VecX& vector) {
    Value(static_cast<uint64_t>(vector.size()));
    bytes_.append(reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(double));
  }
  void Text(absl::string_view text) {
    Value(static_cast<uint64_t>(text.size()));
    bytes_.append(text.data(), text.size());
  }
  // The number of elements of a container, and each of them as `visit` writes it.
  template <typename Container, typename Visit>
  void Each(const Container& container, Visit&& visit) {
    Value(static_cast<uint64_t>(container.size()));
    for (const auto& element : container) visit(element);
  }
  // 0, or 1 and the value as `visit` writes it.
  template <typename T, typename Visit>
  void Optional(const std::optional<T>& optional, Visit&& visit) {
    Value(static_cast<uint64_t>(optional.has_value()));
    if (optional) visit(*optional);
  }
  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Never reads beyond its bytes, and holds no more than a small multiple of those that it has read, whatever numbers they declare:
// what was cut short or made up leaves zeros and ok() false.
class ByteReader {
 public:
  explicit ByteReader(absl::string_view bytes) : rest_(bytes) {}

  template <typename T>
  void Value(T& value) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    value = T{};
    if (const char* from = Take(sizeof(T))) std::memcpy(&value, from, sizeof(T));
  }
  void Value(bool& value) {
    uint8_t byte = 0;
    Value(byte);
    ok_ = ok_ && byte <= 1;
    value = byte == 1;
  }
  void Vector(VecX& vector) {
    const uint64_t size = Count(sizeof(double));
    vector.resize(static_cast<Eigen::Index>(size));
    if (const char* from = Take(size * sizeof(double)); from != nullptr && size > 0) {
      std::memcpy(vector.data(), from, size * sizeof(double));
    }
  }
  void Text(std::string& text) {
    const uint64_t size = Count(1);
    text.clear();
    if (const char* from = Take(size)) text.assign(from, size);
  }
  // The same without a copy: points into the bytes that are read.
  void Text(absl::string_view& text) {
    const uint64_t size = Count(1);
    const char* from = Take(size);
    text = from == nullptr ? absl::string_view() : absl::string_view(from, size);
  }
  // Elements are added one by one as they are read, so a declared number allocates nothing.
  template <typename Container, typename Visit>
  void Each(Container& container, Visit&& visit) {
    container.clear();
    uint64_t count = 0;
    Value(count);
    for (; ok_ && count > 0; --count) {
      const size_t before = rest_.size();
      visit(container.emplace_back());
      if (rest_.size() == before) ok_ = false;  // an element without bytes would never end
    }
  }
  template <typename T, typename Visit>
  void Optional(std::optional<T>& optional, Visit&& visit) {
    uint64_t count = 0;
    Value(count);
    ok_ = ok_ && count <= 1;
    optional.reset();
    if (ok_ && count == 1) visit(*(optional = T()));
  }
  // Whether everything so far was there.
  bool ok() const { return ok_; }
  // Everything was there, and nothing is left.
  bool done() const { return ok_ && rest_.empty(); }

 private:
  // A number of elements of at least `element_bytes` each; 0 when that many cannot follow.
  uint64_t Count(size_t element_bytes) {
    uint64_t count = 0;
    Value(count);
    if (count > rest_.size() / element_bytes) ok_ = false;
    return ok_ ? count : 0;
  }
  const char* Take(size_t bytes) {
    if (!ok_ || bytes > rest_.size()) {
      ok_ = false;
      return nullptr;
    }
    const char* from = rest_.data();
    rest_.remove_prefix(bytes);
    return from;
  }

  absl::string_view rest_;
  bool ok_ = true;
};

}  // namespace eipc

#endif  // EIPC_SIM_BASE_BYTE_ARCHIVE_H_
