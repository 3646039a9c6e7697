#include "sim/robot/sdf_includes.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sdf/parser.hh>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sim/robot/import_parts.h"
#include "sim/robot/xml_text.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;

constexpr int kMostIncludes = 100;

class IncludeWalk {
 public:
  IncludeWalk(const std::string* description, const PackageFolders* packages) : description_(*description), packages_(*packages) {}

  std::vector<std::string> Run(const TiXmlDocument& document) {
    open_ = {Canonical(description_)};
    Visit(document.RootElement(), description_);
    return std::move(problems_);
  }

 private:
  static fs::path Canonical(const fs::path& path) {
    std::error_code error;
    fs::path canonical = fs::weakly_canonical(path, error);
    return error ? path : canonical;
  }

  // libsdformat looks there first, whatever comes before "://".
  static fs::path InPresentFolder(const std::string& uri) {
    const size_t scheme = uri.find("://");
    std::error_code error;
    return fs::current_path(error) / fs::path(scheme == std::string::npos ? uri : uri.substr(scheme + 3)).relative_path();
  }

  // Depth first; after the first problem nothing else is looked at.
  void Visit(const TiXmlElement* element, const std::string& file) {
    for (; element != nullptr && problems_.empty(); element = element->NextSiblingElement()) {
      const TiXmlElement* uri = element->ValueStr() == "include" ? element->FirstChildElement("uri") : nullptr;
      if (uri != nullptr && uri->GetText() != nullptr) {
        Follow(std::string(absl::StripAsciiWhitespace(uri->GetText())), absl::StrCat(file, ":", uri->Row(), ": include/uri"));
      } else {
        Visit(element->FirstChildElement(), file);
      }
    }
  }

  void Follow(const std::string& uri, const std::string& place) {
    const auto refuse = [&](const auto&... why) { problems_.push_back(absl::StrCat(place, ": \"", uri, "\": ", why...)); };
    if (++includes_ > kMostIncludes) return refuse("more than ", kMostIncludes, " files are included");
    const absl::StatusOr<std::string> found = FindIncluded(uri, description_, packages_);
    const fs::path present = InPresentFolder(uri);
    std::error_code error;
    if (fs::exists(present, error) && !(found.ok() && fs::equivalent(present, *found, error))) {
      return refuse("libsdformat would take ", present.string(), " from the present folder, which is not ",
                    found.ok() ? absl::StrCat("the ", *found, " that is meant") : "where it belongs", "; run this elsewhere");
    }
    if (!found.ok()) return;
    const std::string file = fs::is_directory(*found, error) ? sdf::getModelFilePath(*found) : *found;
    const fs::path canonical = Canonical(file);
    if (std::find(open_.begin(), open_.end(), canonical) != open_.end()) return refuse(file, " includes itself");
    const absl::StatusOr<std::string> text = ReadDescription(file);
    if (!text.ok()) return;
    const absl::StatusOr<std::unique_ptr<TiXmlDocument>> document = ParseXml(*text, file);
    if (!document.ok()) return problems_.push_back(std::string(document.status().message()));
    open_.push_back(canonical);
    Visit((*document)->RootElement(), file);
    open_.pop_back();
  }

  const std::string& description_;
  const PackageFolders& packages_;
  std::vector<fs::path> open_;  // the files around the one that is looked at
  int includes_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> IncludeProblems(const TiXmlDocument& document, const std::string& file, const PackageFolders& packages) {
  return IncludeWalk(&file, &packages).Run(document);
}

}  // namespace eipc
