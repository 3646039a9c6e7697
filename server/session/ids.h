#ifndef EIPC_SERVER_SESSION_IDS_H_
#define EIPC_SERVER_SESSION_IDS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace eipc {

// 128 bits from the system's random source, as 32 hex digits: names that cannot be guessed.
std::string RandomHex128();

// What a client sent, fit for a message: at most 80 bytes, nothing but printable ASCII.
std::string Printable(absl::string_view text);

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_IDS_H_
