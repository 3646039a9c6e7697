#ifndef EIPC_SERVER_SESSION_GUARDED_H_
#define EIPC_SERVER_SESSION_GUARDED_H_

#include <exception>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace eipc {

// Runs `body`, which returns a Status or a StatusOr. Every thread that works for a client does so under it: what is thrown is that
// client's answer, not the end of the server.
template <typename Body>
auto Guarded(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("OUT_OF_MEMORY: not enough memory for this call");
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("INTERNAL: ", error.what()));
  } catch (...) {
    return absl::InternalError("INTERNAL: an exception of no known kind");
  }
}

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_GUARDED_H_
