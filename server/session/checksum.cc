#include "server/session/checksum.h"

#include <zlib.h>

namespace eipc {

uint32_t Crc32(absl::string_view bytes, uint32_t before) {
  return static_cast<uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace eipc
