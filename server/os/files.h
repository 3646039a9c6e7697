#ifndef EIPC_SERVER_OS_FILES_H_
#define EIPC_SERVER_OS_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace eipc {

// UNAVAILABLE (JOURNAL_FAILED) with the operating system's words for errno.
absl::Status FileError(absl::string_view what, const std::string& path);

// Writes all of it, or says why not.
absl::Status WriteAll(int file, absl::string_view bytes, const std::string& path);

absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

}  // namespace eipc

#endif  // EIPC_SERVER_OS_FILES_H_
