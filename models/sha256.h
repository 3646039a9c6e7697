#ifndef EIPC_MODELS_SHA256_H_
#define EIPC_MODELS_SHA256_H_

#include <string>

namespace eipc {

// SHA-256 of `content` as 64 lower-case hexadecimal digits.
std::string Sha256Hex(const std::string& content);

}  // namespace eipc

#endif  // EIPC_MODELS_SHA256_H_
