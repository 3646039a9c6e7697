#include "sim/base/byte_archive.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace eipc {
namespace {

struct Thing {
  int32_t count = 0;
  bool flag = false;
  VecX numbers;
  std::string text;
  std::vector<double> list;
  std::optional<double> present, absent;
  bool operator==(const Thing& other) const {
    return count == other.count && flag == other.flag && numbers == other.numbers && text == other.text && list == other.list &&
           present == other.present && absent == other.absent;
  }
};

template <typename Archive, typename T>
void Visit(Archive& archive, T& thing) {
  archive.Value(thing.count);
  archive.Value(thing.flag);
  archive.Vector(thing.numbers);
  archive.Text(thing.text);
  archive.Each(thing.list, [&archive](auto& value) { archive.Value(value); });
  archive.Optional(thing.present, [&archive](auto& value) { archive.Value(value); });
  archive.Optional(thing.absent, [&archive](auto& value) { archive.Value(value); });
}

Thing Example() { return {-7, true, VecX::LinSpaced(5, -1, 1), std::string("a\0b", 3), {1.5, -0.0}, 2.5, {}}; }

TEST(ByteArchive, GivesBackWhatWasWritten) {
  const Thing thing = Example();
  ByteWriter writer;
  Visit(writer, thing);
  ByteReader reader(writer.bytes());
  Thing read;
  Visit(reader, read);
  EXPECT_TRUE(reader.done());
  EXPECT_TRUE(read == thing);
}

TEST(ByteArchive, NoticesEveryCutAndEveryByteTooMany) {
  const Thing thing = Example();
  ByteWriter writer;
  Visit(writer, thing);
  const std::string bytes = writer.bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader reader(absl::string_view(bytes).substr(0, size));
    Thing read;
    Visit(reader, read);
    EXPECT_FALSE(reader.ok()) << size;
  }
  const std::string longer = bytes + "x";
  ByteReader reader(longer);
  Thing read;
  Visit(reader, read);
  EXPECT_TRUE(reader.ok());
  EXPECT_FALSE(reader.done());
}

// A size that cannot be true allocates nothing.
TEST(ByteArchive, DoesNotBelieveSizes) {
  ByteWriter writer;
  writer.Value(~uint64_t{0});
  VecX vector;
  ByteReader first(writer.bytes());
  first.Vector(vector);
  EXPECT_FALSE(first.ok());
  EXPECT_EQ(vector.size(), 0);
  std::string text;
  ByteReader second(writer.bytes());
  second.Text(text);
  EXPECT_FALSE(second.ok());
  std::vector<double> list;
  ByteReader third(writer.bytes());
  third.Each(list, [&third](double& value) { third.Value(value); });
  EXPECT_FALSE(third.ok());
  EXPECT_LE(list.capacity(), 1u);
  std::optional<double> optional = 1.0;
  ByteReader fourth(writer.bytes());
  fourth.Optional(optional, [&fourth](double& value) { fourth.Value(value); });
  EXPECT_FALSE(fourth.ok());
  EXPECT_FALSE(optional.has_value());
}

// Elements that take no bytes would never end.
TEST(ByteArchive, EndsListsOfElementsWithoutBytes) {
  ByteWriter writer;
  writer.Each(std::vector<int>(3), [](int) {});
  std::vector<int> list;
  ByteReader nothing(writer.bytes());
  nothing.Each(list, [](int&) {});
  EXPECT_FALSE(nothing.ok());
}

TEST(ByteArchive, LooksAtTextWithoutCopyingIt) {
  ByteWriter writer;
  writer.Text("inside");
  absl::string_view text;
  ByteReader reader(writer.bytes());
  reader.Text(text);
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(text, "inside");
  EXPECT_EQ(text.data(), writer.bytes().data() + sizeof(uint64_t));
}

}  // namespace
}  // namespace eipc
