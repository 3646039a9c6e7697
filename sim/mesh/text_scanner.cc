#include "sim/mesh/text_scanner.h"

#include <charconv>
#include <cmath>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }

template <typename T>
bool ParseAll(absl::string_view token, T* value) {
  if (!token.empty() && token[0] == '+') token.remove_prefix(1);
  if (token.empty()) return false;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), *value);
  return error == std::errc() && end == token.data() + token.size();
}

}  // namespace

absl::string_view WithoutByteOrderMark(absl::string_view text) {
  constexpr absl::string_view kMark = "\xef\xbb\xbf";
  return text.substr(0, kMark.size()) == kMark ? text.substr(kMark.size()) : text;
}

std::string Quoted(absl::string_view token) {
  if (token.empty()) return "the end of the file";
  return absl::StrCat("'", absl::CHexEscape(std::string(token.substr(0, 40))), "'");
}

bool ParseFiniteDouble(absl::string_view token, double* value) { return ParseAll(token, value) && std::isfinite(*value); }

bool ParseInteger(absl::string_view token, int64_t* value) { return ParseAll(token, value); }

absl::string_view WithoutComment(absl::string_view line) {
  line = line.substr(0, line.find('#'));
  while (!line.empty() && IsBlank(line.front())) line.remove_prefix(1);
  while (!line.empty() && IsBlank(line.back())) line.remove_suffix(1);
  return line;
}

absl::string_view CutToken(absl::string_view* line) {
  size_t begin = 0;
  while (begin < line->size() && IsBlank((*line)[begin])) ++begin;
  size_t end = begin;
  while (end < line->size() && !IsBlank((*line)[end])) ++end;
  const absl::string_view token = line->substr(begin, end - begin);
  line->remove_prefix(end);
  return token;
}

absl::string_view TextScanner::Token() {
  while (at_ < text_.size() && IsBlank(text_[at_])) {
    if (text_[at_++] == '\n') ++line_;
  }
  const size_t begin = at_;
  while (at_ < text_.size() && !IsBlank(text_[at_])) ++at_;
  token_line_ = line_;
  return text_.substr(begin, at_ - begin);
}

absl::string_view TextScanner::Line() {
  token_line_ = line_;
  const size_t begin = at_;
  const size_t newline = text_.find('\n', at_);
  const size_t end = newline == absl::string_view::npos ? text_.size() : newline;
  at_ = newline == absl::string_view::npos ? end : newline + 1;
  if (newline != absl::string_view::npos) ++line_;
  absl::string_view line = text_.substr(begin, end - begin);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

absl::string_view TextScanner::ContentLine() {
  while (at_ < text_.size()) {
    const absl::string_view line = WithoutComment(Line());
    if (!line.empty()) return line;
  }
  return {};
}

bool TextScanner::AtEnd() {
  while (at_ < text_.size() && IsBlank(text_[at_])) {
    if (text_[at_++] == '\n') ++line_;
  }
  return at_ >= text_.size();
}

bool TextScanner::SkipBytes(int64_t count) {
  if (count < 0 || static_cast<size_t>(count) > text_.size() - at_) return false;
  at_ += static_cast<size_t>(count);
  return true;
}

absl::StatusOr<double> TextScanner::FiniteDouble(absl::string_view what) {
  const absl::string_view token = Token();
  double value = 0;
  if (!ParseFiniteDouble(token, &value)) return Error(absl::StrCat(what, " must be a finite number, got ", Quoted(token)));
  return value;
}

absl::StatusOr<int64_t> TextScanner::Integer(absl::string_view what) {
  const absl::string_view token = Token();
  int64_t value = 0;
  if (!ParseInteger(token, &value)) return Error(absl::StrCat(what, " must be an integer, got ", Quoted(token)));
  return value;
}

absl::StatusOr<int64_t> TextScanner::Count(absl::string_view what, int64_t min_bytes) {
  EIPC_ASSIGN_OR_RETURN(const int64_t count, Integer(what));
  EIPC_RETURN_IF_ERROR(CheckRoom(count, min_bytes, what));
  return count;
}

absl::Status TextScanner::CheckRoom(int64_t count, int64_t min_bytes, absl::string_view what) const {
  if (count < 0) return Error(absl::StrCat(what, " must not be negative, got ", count));
  const int64_t room = static_cast<int64_t>(text_.size() - at_) + 1;
  if (count > room / min_bytes) {
    return Error(
        absl::StrCat(what, " ", count, " is more than the rest of the file can hold; is it cut short, or the count wrong?"));
  }
  return absl::OkStatus();
}

absl::Status TextScanner::ErrorAt(int64_t line, absl::string_view message) const {
  return absl::InvalidArgumentError(absl::StrCat(file_, ":", line, ": ", message));
}

}  // namespace eipc
