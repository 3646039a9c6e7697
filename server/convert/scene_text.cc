#include "server/convert/scene_text.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "eipc/v1/scene.pb.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

// Positions arrive counted from zero; people count from one.
class Collector : public google::protobuf::io::ErrorCollector {
 public:
  explicit Collector(std::string name) : name_(std::move(name)) {}
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    lines.push_back(absl::StrCat(name_, ":", line + 1, ":", column + 1, ": ", message));
  }
  std::vector<std::string> lines;

 private:
  const std::string name_;
};

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::not_found) return absl::NotFoundError(absl::StrCat(path, ": no such file"));
  if (type != std::filesystem::file_type::regular) return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  return std::move(text).str();
}

}  // namespace

absl::StatusOr<v1::Scene> ParseSceneText(const std::string& text, const std::string& name) {
  Collector collector(name);
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  v1::Scene scene;
  if (parser.ParseFromString(text, &scene)) return scene;
  if (collector.lines.empty()) collector.lines.push_back(absl::StrCat(name, ": not a scene in protobuf text format"));
  return absl::InvalidArgumentError(absl::StrJoin(collector.lines, "\n"));
}

absl::StatusOr<v1::Scene> LoadSceneText(const std::string& path) {
  EIPC_ASSIGN_OR_RETURN(const std::string text, ReadText(path));
  return ParseSceneText(text, path);
}

}  // namespace eipc
