#ifndef EIPC_SERVER_SESSION_CHECKSUM_H_
#define EIPC_SERVER_SESSION_CHECKSUM_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace eipc {

// CRC-32 as zlib computes it (IEEE 802.3): notices every flip of up to 32 neighbouring bits and all but one in 4e9 of others.
uint32_t Crc32(absl::string_view bytes);

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_CHECKSUM_H_
