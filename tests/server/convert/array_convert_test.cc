#include "server/convert/array_convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "eipc/v1/geometry.pb.h"

namespace eipc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
v1::NdArray Array(v1::DataType dtype, std::vector<int64_t> shape, std::vector<T> values) {
  v1::NdArray array;
  array.set_dtype(dtype);
  for (const int64_t n : shape) array.add_shape(n);
  array.set_data(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
  return array;
}

TEST(Points, RoundTripInDoubles) {
  const std::vector<Vec3> points = {Vec3(0.1, -2, 1e-300), Vec3(4, 5, 6)};
  v1::NdArray array;
  PointsToProto(points.data(), 2, false, &array);
  EXPECT_EQ(array.dtype(), v1::FLOAT64);
  EXPECT_THAT(array.shape(), ElementsAre(2, 3));
  const auto read = PointsFromProto(array);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, points);
}

TEST(Points, AreLittleEndianAndRowMajor) {
  const Vec3 point(1, 0, 0);
  v1::NdArray array;
  PointsToProto(&point, 1, false, &array);
  EXPECT_EQ(array.data().substr(0, 8), std::string("\0\0\0\0\0\0\xf0\x3f", 8));
  PointsToProto(&point, 1, true, &array);
  EXPECT_EQ(array.dtype(), v1::FLOAT32);
  EXPECT_EQ(array.data().substr(0, 4), std::string("\0\0\x80\x3f", 4));
  EXPECT_EQ(array.data().size(), 12u);
}

TEST(Points, ReadFloats) {
  const auto read = PointsFromProto(Array<float>(v1::FLOAT32, {1, 3}, {1.5f, 2, 3}));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->at(0), Vec3(1.5, 2, 3));
}

TEST(Points, RefuseWhatDoesNotFit) {
  const std::vector<double> six = {1, 2, 3, 4, 5, 6};
  const auto error = [](const v1::NdArray& array) { return std::string(PointsFromProto(array).status().message()); };
  EXPECT_THAT(error(Array(v1::FLOAT64, {3, 3}, six)), HasSubstr("data has 48 bytes, which is not shape [3,3] of 8-byte FLOAT64"));
  EXPECT_THAT(error(Array(v1::FLOAT64, {3, 2}, six)), HasSubstr("must have shape [n,3], got [3,2]"));
  EXPECT_THAT(error(Array(v1::FLOAT64, {6}, six)), HasSubstr("must have shape [n,width], got [6]"));
  EXPECT_THAT(error(Array(v1::FLOAT64, {-2, 3}, six)), HasSubstr("must have shape"));
  EXPECT_THAT(error(Array(v1::INT32, {2, 3}, six)), HasSubstr("dtype must be FLOAT64 or FLOAT32, got INT32"));
  EXPECT_THAT(error(v1::NdArray()), HasSubstr("dtype must be"));
  v1::NdArray ragged = Array(v1::FLOAT64, {2, 3}, six);
  ragged.mutable_data()->pop_back();
  EXPECT_THAT(error(ragged), HasSubstr("data has 47 bytes"));
  v1::NdArray unknown = Array(v1::FLOAT64, {2, 3}, six);
  unknown.set_dtype(static_cast<v1::DataType>(77));
  EXPECT_THAT(error(unknown), HasSubstr("got 77"));
}

TEST(Points, RefuseShapesThatOverflow) {
  const int64_t huge = int64_t{1} << 62;
  EXPECT_FALSE(PointsFromProto(Array<double>(v1::FLOAT64, {huge, 3}, {})).ok());
  EXPECT_FALSE(PointsFromProto(Array<double>(v1::FLOAT64, {3, huge}, {})).ok());
  EXPECT_FALSE(PointsFromProto(Array<double>(v1::FLOAT64, {std::numeric_limits<int64_t>::min(), 3}, {})).ok());
}

TEST(Points, NameTheRowThatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto read = PointsFromProto(Array<double>(v1::FLOAT64, {2, 3}, {1, 2, 3, 4, nan, 6}));
  EXPECT_EQ(read.status().message(), "row 1 must be finite, got (4, nan, 6)");
}

TEST(IndexRows, ReadBothWidths) {
  const auto narrow = IndexRowsFromProto(Array<int32_t>(v1::INT32, {1, 4}, {0, 1, 2, 3}));
  ASSERT_TRUE(narrow.ok());
  EXPECT_EQ(narrow->width, 4);
  EXPECT_THAT(narrow->values, ElementsAre(0, 1, 2, 3));
  const auto wide = IndexRowsFromProto(Array<int64_t>(v1::INT64, {2, 3}, {0, 1, 2, 3, 4, 5}));
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(wide->values.size(), 6u);
}

TEST(IndexRows, RefuseWhatIsNoIndex) {
  const int64_t large = int64_t{1} << 40;
  EXPECT_THAT(std::string(IndexRowsFromProto(Array<int64_t>(v1::INT64, {2, 3}, {0, 1, 2, 3, large, 5})).status().message()),
              HasSubstr("row 1 holds 1099511627776"));
  EXPECT_FALSE(IndexRowsFromProto(Array<int32_t>(v1::INT32, {0, 0}, {})).ok());
  EXPECT_FALSE(IndexRowsFromProto(Array<double>(v1::FLOAT64, {1, 3}, {0, 1, 2})).ok());
}

TEST(Triangles, AreInVerticesOfTheBody) {
  const Triangle triangle = {10, 12, 11};
  v1::NdArray array;
  TrianglesToProto(&triangle, 1, 10, &array);
  EXPECT_THAT(IndexRowsFromProto(array)->values, ElementsAre(0, 2, 1));
}

}  // namespace
}  // namespace eipc
