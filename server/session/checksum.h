#ifndef EIPC_SERVER_SESSION_CHECKSUM_H_
#define EIPC_SERVER_SESSION_CHECKSUM_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace eipc {

// CRC-32 as zlib computes it (IEEE 802.3): notices every flip of up to 32 neighbouring bits and all but one in 4e9 of others.
// `before`: that of the bytes before these; 0 where these are the first.
uint32_t Crc32(absl::string_view bytes, uint32_t before = 0);

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_CHECKSUM_H_
