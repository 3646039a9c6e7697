#ifndef EIPC_SIM_MESH_TEXT_SCANNER_H_
#define EIPC_SIM_MESH_TEXT_SCANNER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace eipc {

// `text` without the byte order mark that some programs put in front of UTF-8.
absl::string_view WithoutByteOrderMark(absl::string_view text);

// Walks a text mesh file token by token or line by line and words its errors: "FILE:LINE: what is wrong".
class TextScanner {
 public:
  // `text` must outlive the scanner; `file` only appears in errors. A byte order mark is no part of the text.
  TextScanner(absl::string_view text, std::string file) : text_(WithoutByteOrderMark(text)), file_(std::move(file)) {}

  // Next whitespace-separated token, or empty at the end.
  absl::string_view Token();
  // Rest of the current line without its end; empty at the end of the file too. Moves to the next line.
  absl::string_view Line();
  // Next line with content, comments (from '#') and surrounding blanks removed; empty only at the end.
  absl::string_view ContentLine();
  // Skips blanks; true when nothing but blanks was left.
  bool AtEnd();
  bool AtEndOfText() const { return at_ >= text_.size(); }
  // What was not read yet.
  absl::string_view Rest() const { return text_.substr(at_); }
  // Moves over bytes that something else has read; they count as no line. False when fewer are left.
  bool SkipBytes(int64_t count);

  absl::StatusOr<double> FiniteDouble(absl::string_view what);
  absl::StatusOr<int64_t> Integer(absl::string_view what);
  // An integer >= 0 that counts items of at least `min_bytes` characters each: refused when the rest of the file cannot hold them,
  // so that a huge count never allocates.
  absl::StatusOr<int64_t> Count(absl::string_view what, int64_t min_bytes);
  // OK when the rest of the file can hold `count` items of `min_bytes`.
  absl::Status CheckRoom(int64_t count, int64_t min_bytes, absl::string_view what) const;

  absl::Status Error(absl::string_view message) const { return ErrorAt(token_line_, message); }
  absl::Status ErrorAt(int64_t line, absl::string_view message) const;
  int64_t line() const { return token_line_; }

 private:
  absl::string_view text_;
  std::string file_;
  size_t at_ = 0;
  int64_t line_ = 1;
  int64_t token_line_ = 1;  // line of the last token or line handed out
};

// Parses the whole of `token`; false when it is not a finite number or not an integer.
bool ParseFiniteDouble(absl::string_view token, double* value);
bool ParseInteger(absl::string_view token, int64_t* value);
// The beginning of a token in quotes, fit for a message whatever its bytes are; "the end of the file" when it is empty.
std::string Quoted(absl::string_view token);
// A line without its comment (from '#') and surrounding blanks.
absl::string_view WithoutComment(absl::string_view line);
// Cuts the first whitespace-separated token off `line`.
absl::string_view CutToken(absl::string_view* line);

}  // namespace eipc

#endif  // EIPC_SIM_MESH_TEXT_SCANNER_H_
