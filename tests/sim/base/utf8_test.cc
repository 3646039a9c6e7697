#include "sim/base/utf8.h"

#include <gtest/gtest.h>

namespace eipc {
namespace {

TEST(ToUtf8, KeepsWhatIsWellFormed) {
  for (const char* text :
       {"", "plain", "h\xc3\xa4lt", "\xe2\x82\xac", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(ToUtf8(text), text);
  }
  EXPECT_EQ(ToUtf8(absl::string_view("a\0b", 3)), std::string("a\0b", 3));
}

TEST(ToUtf8, ReplacesEveryByteOfNoCharacter) {
  EXPECT_EQ(ToUtf8("\xff\xfe"), "??");
  EXPECT_EQ(ToUtf8("a\x80z"), "a?z");
  EXPECT_EQ(ToUtf8("\xc3"), "?") << "cut short";
  EXPECT_EQ(ToUtf8("\xe2\x82z"), "??z");
  EXPECT_EQ(ToUtf8("\xc0\xaf"), "??") << "an overlong form";
  EXPECT_EQ(ToUtf8("\xe0\x80\xaf"), "???");
  EXPECT_EQ(ToUtf8("\xed\xa0\x80"), "???") << "a surrogate";
  EXPECT_EQ(ToUtf8("\xf4\x90\x80\x80"), "????") << "beyond U+10FFFF";
  EXPECT_EQ(ToUtf8("\xf5\x80\x80\x80"), "????");
}

}  // namespace
}  // namespace eipc
