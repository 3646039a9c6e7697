#ifndef EIPC_SIM_MESH_VTU_ARRAY_H_
#define EIPC_SIM_MESH_VTU_ARRAY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/mesh/byte_reader.h"

namespace eipc {

// How a VTK XML file encodes the numbers of its arrays.
struct VtuEncoding {
  std::endian order = std::endian::little;
  NumberKind header = NumberKind::kUint32;  // of the sizes in front of binary data
  bool zlib = false;
};

// Raw bytes of one array: `data` begins with its size header and is base64 text or raw bytes, and may go on beyond the array.
// INVALID_ARGUMENT (without a file name) when it is cut short or damaged. Never more than a fixed multiple of data's size.
absl::StatusOr<std::string> DecodeVtuArray(absl::string_view data, bool base64, const VtuEncoding& encoding);

}  // namespace eipc

#endif  // EIPC_SIM_MESH_VTU_ARRAY_H_
