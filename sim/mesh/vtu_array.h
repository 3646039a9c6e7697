#ifndef EIPC_SIM_MESH_VTU_ARRAY_H_
#define EIPC_SIM_MESH_VTU_ARRAY_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/mesh/number_reader.h"

namespace eipc {

// How a VTK XML file encodes the numbers of its arrays.
struct VtuEncoding {
  std::endian order = std::endian::little;
  NumberKind header = NumberKind::kUint32;  // of the sizes in front of binary data
  bool zlib = false;
};

// Raw bytes of one array, handed to `take` in pieces of at most 64 KiB; it ends the decoding by returning false. `data` begins with
// the array's size header and is base64 text or raw bytes, and may continue beyond the array. INVALID_ARGUMENT (without a file
// name) when it is cut short or damaged, or when its header declares more than `most_bytes`, or more than deflate can make of what
// there is (a factor of 1,100): nothing is handed out then. Holds some 200 KiB and 8 bytes a compressed block, whatever is
// declared.
absl::Status DecodeVtuArray(absl::string_view data, bool base64, const VtuEncoding& encoding, int64_t most_bytes,
                            const std::function<bool(absl::string_view piece)>& take);

}  // namespace eipc

#endif  // EIPC_SIM_MESH_VTU_ARRAY_H_
