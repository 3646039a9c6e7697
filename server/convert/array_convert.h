#ifndef EIPC_SERVER_CONVERT_ARRAY_CONVERT_H_
#define EIPC_SERVER_CONVERT_ARRAY_CONVERT_H_

// Raw little-endian arrays with shape and element type, in both directions.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/types.h"

namespace eipc::v1 {
class NdArray;
}  // namespace eipc::v1

namespace eipc {

// [n,3] FLOAT64 or FLOAT32. INVALID_ARGUMENT (text without a path) when type, shape and bytes do not fit, or a number is not
// finite.
absl::StatusOr<std::vector<Vec3>> PointsFromProto(const v1::NdArray& array);

// [n,width] INT32 or INT64, row-major, every value in the range of int32.
struct IndexRows {
  int64_t width = 0;
  std::vector<int32_t> values;
};
absl::StatusOr<IndexRows> IndexRowsFromProto(const v1::NdArray& array);

// `count` points starting at `points`, as FLOAT32 or FLOAT64.
void PointsToProto(const Vec3* points, int64_t count, bool float32, v1::NdArray* out);

// [n] FLOAT32 or FLOAT64.
void NumbersToProto(const std::vector<double>& numbers, bool float32, v1::NdArray* out);

// [n] INT32.
void IndicesToProto(const std::vector<int32_t>& indices, v1::NdArray* out);

// [n,3] INT32, `offset` subtracted from each index.
void TrianglesToProto(const Triangle* triangles, int64_t count, int32_t offset, v1::NdArray* out);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_ARRAY_CONVERT_H_
