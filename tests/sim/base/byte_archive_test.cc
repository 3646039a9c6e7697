#include "sim/base/byte_archive.h"

#include <gtest/gtest.h>

#include <vector>

namespace eipc {
namespace {

struct Thing {
  int32_t count = 0;
  bool flag = false;
  VecX numbers;
  std::string text;
  std::vector<double> list;
  bool operator==(const Thing& other) const {
    return count == other.count && flag == other.flag && numbers == other.numbers && text == other.text && list == other.list;
  }
};

template <typename Archive, typename T>
void Visit(Archive& archive, T& thing) {
  archive.Value(thing.count);
  archive.Value(thing.flag);
  archive.Vector(thing.numbers);
  archive.Text(thing.text);
  archive.Size(thing.list);
  for (auto& value : thing.list) archive.Value(value);
}

Thing Example() { return {-7, true, VecX::LinSpaced(5, -1, 1), std::string("a\0b", 3), {1.5, -0.0}}; }

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
  third.Size(list);
  EXPECT_FALSE(third.ok());
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace eipc
