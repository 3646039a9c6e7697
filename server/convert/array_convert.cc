#include "server/convert/array_convert.h"

#include <bit>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "eipc/v1/geometry.pb.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are copied as they lie in memory");
static_assert(sizeof(Vec3) == 3 * sizeof(double), "points are packed");
static_assert(sizeof(Triangle) == 3 * sizeof(int32_t), "triangles are packed");

std::string ShapeText(const v1::NdArray& array) { return absl::StrCat("[", absl::StrJoin(array.shape(), ","), "]"); }

// Checks that `array` is [n, w] with elements of `element_bytes` and holds exactly its data; returns n.
absl::StatusOr<int64_t> CheckRows(const v1::NdArray& array, int64_t element_bytes) {
  if (array.shape_size() != 2 || array.shape(0) < 0 || array.shape(1) < 1) {
    return absl::InvalidArgumentError(absl::StrCat("must have shape [n,width], got ", ShapeText(array)));
  }
  const int64_t bytes = static_cast<int64_t>(array.data().size());
  const int64_t rows = array.shape(0);
  // Divisions, not products: a client's shape may overflow.
  const int64_t elements = bytes / element_bytes;
  const bool fits = bytes % element_bytes == 0 && elements % array.shape(1) == 0 && elements / array.shape(1) == rows;
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat("data has ", bytes, " bytes, which is not shape ", ShapeText(array), " of ",
                                                   element_bytes, "-byte ", v1::DataType_Name(array.dtype())));
  }
  return rows;
}

absl::Status WrongType(const v1::NdArray& array, const char* wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("dtype must be ", wanted, ", got ",
                   v1::DataType_IsValid(array.dtype()) ? v1::DataType_Name(array.dtype()) : absl::StrCat(int{array.dtype()})));
}

template <typename T>
T ElementAt(const v1::NdArray& array, int64_t index) {
  T value;
  std::memcpy(&value, array.data().data() + index * sizeof(T), sizeof(T));
  return value;
}

void SetShape(std::initializer_list<int64_t> shape, v1::DataType dtype, v1::NdArray* out) {
  out->set_dtype(dtype);
  out->mutable_shape()->Assign(shape.begin(), shape.end());
}

}  // namespace

absl::StatusOr<std::vector<Vec3>> PointsFromProto(const v1::NdArray& array) {
  const bool float32 = array.dtype() == v1::FLOAT32;
  if (!float32 && array.dtype() != v1::FLOAT64) return WrongType(array, "FLOAT64 or FLOAT32");
  EIPC_ASSIGN_OR_RETURN(const int64_t rows, CheckRows(array, float32 ? sizeof(float) : sizeof(double)));
  if (array.shape(1) != 3) return absl::InvalidArgumentError(absl::StrCat("must have shape [n,3], got ", ShapeText(array)));
  std::vector<Vec3> points(rows);
  for (int64_t i = 0; i < rows; ++i) {
    for (int k = 0; k < 3; ++k) {
      points[i][k] = float32 ? ElementAt<float>(array, 3 * i + k) : ElementAt<double>(array, 3 * i + k);
    }
    if (!points[i].allFinite()) {
      return absl::InvalidArgumentError(
          absl::StrCat("row ", i, " must be finite, got (", points[i].x(), ", ", points[i].y(), ", ", points[i].z(), ")"));
    }
  }
  return points;
}

absl::StatusOr<IndexRows> IndexRowsFromProto(const v1::NdArray& array) {
  const bool wide = array.dtype() == v1::INT64;
  if (!wide && array.dtype() != v1::INT32) return WrongType(array, "INT32 or INT64");
  EIPC_ASSIGN_OR_RETURN(const int64_t rows, CheckRows(array, wide ? sizeof(int64_t) : sizeof(int32_t)));
  IndexRows result;
  result.width = array.shape(1);
  result.values.resize(rows * result.width);
  for (size_t i = 0; i < result.values.size(); ++i) {
    const int64_t value = wide ? ElementAt<int64_t>(array, i) : ElementAt<int32_t>(array, i);
    if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
      return absl::InvalidArgumentError(absl::StrCat("row ", i / result.width, " holds ", value, ", which is no index"));
    }
    result.values[i] = static_cast<int32_t>(value);
  }
  return result;
}

void PointsToProto(const Vec3* points, int64_t count, bool float32, v1::NdArray* out) {
  SetShape({count, 3}, float32 ? v1::FLOAT32 : v1::FLOAT64, out);
  std::string& data = *out->mutable_data();
  if (!float32) {
    data.assign(reinterpret_cast<const char*>(points), count * sizeof(Vec3));
    return;
  }
  data.resize(count * 3 * sizeof(float));
  for (int64_t i = 0; i < count; ++i) {
    const Eigen::Vector3f point = points[i].cast<float>();
    std::memcpy(data.data() + i * 3 * sizeof(float), point.data(), 3 * sizeof(float));
  }
}

void NumbersToProto(const std::vector<double>& numbers, bool float32, v1::NdArray* out) {
  SetShape({static_cast<int64_t>(numbers.size())}, float32 ? v1::FLOAT32 : v1::FLOAT64, out);
  std::string& data = *out->mutable_data();
  if (!float32) {
    data.assign(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
    return;
  }
  data.resize(numbers.size() * sizeof(float));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const float number = static_cast<float>(numbers[i]);
    std::memcpy(data.data() + i * sizeof(float), &number, sizeof(float));
  }
}

void IndicesToProto(const std::vector<int32_t>& indices, v1::NdArray* out) {
  SetShape({static_cast<int64_t>(indices.size())}, v1::INT32, out);
  out->mutable_data()->assign(reinterpret_cast<const char*>(indices.data()), indices.size() * sizeof(int32_t));
}

void TrianglesToProto(const Triangle* triangles, int64_t count, int32_t offset, v1::NdArray* out) {
  SetShape({count, 3}, v1::INT32, out);
  std::vector<Triangle> local(triangles, triangles + count);
  for (Triangle& triangle : local) {
    for (int32_t& index : triangle) index -= offset;
  }
  out->mutable_data()->assign(reinterpret_cast<const char*>(local.data()), local.size() * sizeof(Triangle));
}

}  // namespace eipc
