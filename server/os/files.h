#ifndef EIPC_SERVER_OS_FILES_H_
#define EIPC_SERVER_OS_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace eipc {

// UNAVAILABLE (JOURNAL_FAILED) with the operating system's words for errno.
absl::Status FileError(absl::string_view what, const std::string& path);

// Writes all of it, or says why not.
absl::Status WriteAll(int file, absl::string_view bytes, const std::string& path);

absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

// Whether the file holds these bytes, one piece after another, and nothing else. False where it cannot be read.
bool FileHolds(const std::string& path, absl::Span<const absl::string_view> pieces);

}  // namespace eipc

#endif  // EIPC_SERVER_OS_FILES_H_
