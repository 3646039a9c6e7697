#include "sim/robot/sdf_document.h"

#include <tinyxml.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <sdf/Console.hh>
#include <sdf/ParserConfig.hh>
#include <sdf/SDFImpl.hh>
#include <sdf/parser.hh>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "sim/base/status_macros.h"
#include "sim/robot/import_parts.h"
#include "sim/robot/sdf_includes.h"
#include "sim/robot/urdfdom_messages.h"
#include "sim/robot/xml_text.h"

namespace eipc {
namespace {

struct Row {
  const char* path;
  bool numbers;
};

// Everything that an import reads, after the specification of SDF (version 1.9). Models in models are at the path "model", too.
const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {"model", false},
      {"model/pose", true},
      {"model/frame", false},
      {"model/frame/pose", true},
      {"model/link", false},
      {"model/link/pose", true},
      {"model/link/inertial", false},
      {"model/link/inertial/mass", true},
      {"model/link/inertial/pose", true},
      {"model/link/inertial/inertia", false},
      {"model/link/inertial/inertia/ixx", true},
      {"model/link/inertial/inertia/ixy", true},
      {"model/link/inertial/inertia/ixz", true},
      {"model/link/inertial/inertia/iyy", true},
      {"model/link/inertial/inertia/iyz", true},
      {"model/link/inertial/inertia/izz", true},
      {"model/link/collision", false},
      {"model/link/collision/pose", true},
      {"model/link/collision/geometry", false},
      {"model/link/collision/geometry/box", false},
      {"model/link/collision/geometry/box/size", true},
      {"model/link/collision/geometry/sphere", false},
      {"model/link/collision/geometry/sphere/radius", true},
      {"model/link/collision/geometry/cylinder", false},
      {"model/link/collision/geometry/cylinder/radius", true},
      {"model/link/collision/geometry/cylinder/length", true},
      {"model/link/collision/geometry/capsule", false},
      {"model/link/collision/geometry/capsule/radius", true},
      {"model/link/collision/geometry/capsule/length", true},
      {"model/link/collision/geometry/ellipsoid", false},
      {"model/link/collision/geometry/ellipsoid/radii", true},
      {"model/link/collision/geometry/mesh", false},
      {"model/link/collision/geometry/mesh/uri", false},
      {"model/link/collision/geometry/mesh/scale", true},
      {"model/joint", false},
      {"model/joint/pose", true},
      {"model/joint/parent", false},
      {"model/joint/child", false},
      {"model/joint/axis", false},
      {"model/joint/axis/xyz", true},
      {"model/joint/axis/limit", false},
      {"model/joint/axis/limit/lower", true},
      {"model/joint/axis/limit/upper", true},
      {"model/joint/axis/limit/effort", true},
      {"model/joint/axis/limit/velocity", true},
      {"model/joint/axis/dynamics", false},
      {"model/joint/axis/dynamics/damping", true},
      {"model/joint/axis/dynamics/friction", true},
      {"model/joint/axis/dynamics/spring_reference", true},
      {"model/joint/axis/dynamics/spring_stiffness", true},
      {"model/joint/axis/mimic", false},
      {"model/joint/axis/mimic/multiplier", true},
      {"model/joint/axis/mimic/offset", true},
      {"model/joint/axis/mimic/reference", true},
      {"model/joint/drake:mimic", false},
  };
  return rows;
}

const Row* FindRow(const std::string& path) {
  const auto found = std::find_if(Rows().begin(), Rows().end(), [&](const Row& row) { return path == row.path; });
  return found == Rows().end() ? nullptr : &*found;
}

// libsdformat leaves out what follows. A pose may have a quaternion.
size_t MostNumbers(absl::string_view path) {
  const absl::string_view name = path.substr(path.rfind('/') + 1);
  if (name == "pose") return 7;
  return name == "xyz" || name == "size" || name == "scale" || name == "radii" ? 3 : 1;
}

std::string Below(const std::string& path, const sdf::ElementPtr& child) {
  const std::string below = absl::StrCat(path, "/", child->GetName());
  return below == "model/model" ? "model" : below;
}

// Calls `visit` with each element below one that the file has (libsdformat adds those with defaults).
template <typename Visit>
void ForEachChild(const sdf::ElementPtr& element, const Visit& visit) {
  for (sdf::ElementPtr child = element->GetFirstElement(); child != nullptr; child = child->GetNextElement()) {
    if (child->GetExplicitlySetInFile()) visit(child);
  }
}

sdf::ElementPtr FindChild(const sdf::ElementPtr& element, const std::string& name) {
  sdf::ElementPtr found;
  ForEachChild(element, [&](const sdf::ElementPtr& child) {
    if (found == nullptr && child->GetName() == name) found = child;
  });
  return found;
}

std::string ValueOf(const sdf::ElementPtr& element) {
  if (element == nullptr || element->GetValue() == nullptr) return "";
  return std::string(absl::StripAsciiWhitespace(element->GetValue()->GetAsString()));
}

// Errors of libsdformat's parser: one that an element cannot be read is followed by one for each element around it, and by one that
// quotes the whole document.
std::vector<sdf::Error> FirstCauses(const sdf::Errors& errors) {
  const auto path_of = [](const sdf::Error& error) { return error.XmlPath().value_or(""); };
  std::vector<sdf::Error> causes;
  for (const sdf::Error& error : errors) {
    const bool around = std::any_of(errors.begin(), errors.end(), [&](const sdf::Error& other) {
      return path_of(other).size() > path_of(error).size() && absl::StartsWith(path_of(other), path_of(error));
    });
    const bool repeats = absl::StartsWith(error.Message(), "Error reading element") && around;
    if (!repeats && error.Code() != sdf::ErrorCode::STRING_READ) causes.push_back(error);
  }
  return causes;
}

absl::Status CheckRoot(const TiXmlElement* root, const std::string& file) {
  if (root == nullptr || root->ValueStr() != "sdf") {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":", root == nullptr ? 1 : root->Row(), ": its first element must be <sdf>"));
  }
  const TiXmlElement* model = root->FirstChildElement();
  const bool one = model != nullptr && model->NextSiblingElement() == nullptr;
  if (one && (model->ValueStr() == "model" || model->ValueStr() == "include")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(file, ":", root->Row(), ": sdf: must hold one <model>, the robot, and nothing else"));
}

// Finds included files as meshes are found. `missing` gets why one was not found.
sdf::ParserConfig Config(const std::string& file, const PackageFolders& packages, std::map<std::string, std::string>* missing) {
  sdf::ParserConfig config;
  config.SetWarningsPolicy(sdf::EnforcementPolicy::LOG);
  config.SetUnrecognizedElementsPolicy(sdf::EnforcementPolicy::LOG);
  config.SetDeprecatedElementsPolicy(sdf::EnforcementPolicy::LOG);
  config.SetFindCallback([file, packages, missing](const std::string& uri) -> std::string {
    const absl::StatusOr<std::string> found = FindIncluded(uri, file, packages);
    if (found.ok()) return *found;
    (*missing)[uri] = std::string(found.status().message());
    return "";
  });
  return config;
}

}  // namespace

int SdfDocument::Line(sdf::ElementPtr element) const {
  while (element != nullptr && !element->LineNumber()) element = element->GetParent();
  return element == nullptr ? 0 : *element->LineNumber();
}

std::string SdfDocument::FileOf(const sdf::ElementPtr& element) const {
  const std::string& path = element->FilePath();
  return path.empty() || absl::StartsWith(path, "<") ? file_ : path;
}

std::string SdfDocument::Place(sdf::ElementPtr element) const {
  const int line = Line(element);
  std::string below;
  const std::string file = FileOf(element);
  while (element != nullptr && element->XmlPath().empty()) {
    below = absl::StrCat("/", element->GetName(), below);
    element = element->GetParent();
  }
  const std::string path = element == nullptr ? "" : element->XmlPath();
  return absl::StrCat(file, line > 0 ? absl::StrCat(":", line) : "", ": ", absl::StripPrefix(path, "/"), below);
}

std::string SdfDocument::Problem(const sdf::Error& error, const sdf::ElementPtr& element) const {
  if (element != nullptr && !error.LineNumber()) return absl::StrCat(Place(element), ": ", error.Message());
  const std::string named = error.FilePath().value_or("");
  std::string text = named.empty() || absl::StartsWith(named, "<") ? file_ : named;
  if (error.LineNumber()) absl::StrAppend(&text, ":", *error.LineNumber());
  if (error.XmlPath()) absl::StrAppend(&text, ": ", absl::StripPrefix(*error.XmlPath(), "/"));
  const bool unreadable = absl::StartsWith(error.Message(), "Error reading element");
  return absl::StrCat(text, ": ", unreadable ? "does not hold what the specification of SDF has there" : error.Message());
}

void SdfDocument::ListIgnored(const sdf::ElementPtr& element, const std::string& path, SeenByPath* ignored) const {
  ForEachChild(element, [&](const sdf::ElementPtr& child) {
    const std::string child_path = Below(path, child);
    if (FindRow(child_path) != nullptr) return ListIgnored(child, child_path, ignored);
    Seen& seen = (*ignored)[absl::StrCat("sdf/", child_path)];
    if (seen.count++ == 0) seen.first_line = Line(child);
  });
}

std::vector<std::string> SdfDocument::Ignored() const {
  SeenByPath found;
  ListIgnored(model().Element(), "model", &found);
  std::vector<std::string> ignored;
  for (const auto& [path, seen] : found) {
    ignored.push_back(absl::StrCat(path, seen.count == 1
                                             ? absl::StrCat(" (line ", seen.first_line, ")")
                                             : absl::StrCat(" (", seen.count, " times, first in line ", seen.first_line, ")")));
  }
  return ignored;
}

// What libsdformat refuses without a place, or does not refuse.
void SdfDocument::CheckJoint(const sdf::ElementPtr& joint, std::vector<std::string>* problems) const {
  std::set<std::string> names;
  ForEachChild(joint->GetParent(), [&](const sdf::ElementPtr& sibling) {
    if (sibling->HasAttribute("name")) names.insert(sibling->Get<std::string>("name"));
  });
  for (const char* end : {"parent", "child"}) {
    const sdf::ElementPtr element = FindChild(joint, end);
    const std::string name = ValueOf(element);
    if (element == nullptr || absl::StrContains(name, "::") || names.count(name) > 0 || (name == "world" && *end == 'p')) continue;
    problems->push_back(absl::StrCat(Place(element), ": no link is named \"", name, "\""));
  }
  const sdf::ElementPtr axis = FindChild(joint, "axis");
  const sdf::ElementPtr xyz = axis == nullptr ? nullptr : FindChild(axis, "xyz");
  if (xyz == nullptr) return;
  const std::vector<std::string> numbers = absl::StrSplit(ValueOf(xyz), ' ', absl::SkipEmpty());
  const bool zero = std::all_of(numbers.begin(), numbers.end(), [](const std::string& number) {
    double value = 1;
    return absl::SimpleAtod(number, &value) && value == 0;
  });
  if (zero) problems->push_back(absl::StrCat(Place(xyz), ": must not be zero"));
}

void SdfDocument::Check(const sdf::ElementPtr& element, const std::string& path, std::vector<std::string>* problems) const {
  const Row* row = FindRow(path);
  if (row == nullptr) return;
  if (row->numbers) {
    const std::vector<std::string> words = absl::StrSplit(ValueOf(element), absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
    const bool limit = absl::StartsWith(path, "model/joint/axis/limit/");  // may be infinite
    if (words.size() > MostNumbers(path)) {
      problems->push_back(
          absl::StrCat(Place(element), ": has ", words.size(), " numbers, of which at most ", MostNumbers(path), " are read"));
    }
    for (const std::string& word : words) {
      double value = 0;
      if (!absl::SimpleAtod(word, &value)) problems->push_back(absl::StrCat(Place(element), ": \"", word, "\" is not a number"));
      if (std::isnan(value) || (std::isinf(value) && !limit)) {
        problems->push_back(absl::StrCat(Place(element), ": must be finite, got ", word));
      } else if (absl::EndsWith(path, "/mass") && value <= 0) {
        problems->push_back(absl::StrCat(Place(element), ": must be > 0, got ", word));
      }
    }
  }
  if (path == "model/joint") CheckJoint(element, problems);
  std::set<std::string> names;
  ForEachChild(element, [&](const sdf::ElementPtr& child) {
    if (path == "model" && child->HasAttribute("name") && !names.insert(child->Get<std::string>("name")).second) {
      problems->push_back(absl::StrCat(Place(child), ": this name is used twice in the model"));
    }
    Check(child, Below(path, child), problems);
  });
}

absl::StatusOr<SdfDocument> SdfDocument::Parse(const std::string& text, const std::string& file, const PackageFolders& packages) {
  EIPC_ASSIGN_OR_RETURN(const std::unique_ptr<TiXmlDocument> xml, ParseXml(text, file));
  EIPC_RETURN_IF_ERROR(CheckRoot(xml->RootElement(), file));
  const UrdfdomMessages silent;  // libsdformat tries URDF when it cannot read something
  sdf::Console::Instance()->SetQuiet(true);
  std::vector<std::string> problems = IncludeProblems(*xml, file, packages);
  if (!problems.empty()) return JoinProblems(problems);
  std::map<std::string, std::string> missing;
  const sdf::ParserConfig config = Config(file, packages, &missing);
  SdfDocument document(file);
  if (const char* version = xml->RootElement()->Attribute("version"); version != nullptr) document.version_ = version;
  try {
    const auto tree = std::make_shared<sdf::SDF>();
    sdf::init(tree);
    sdf::Errors errors;
    const bool read = sdf::readString(text, config, tree, errors);
    for (const sdf::Error& error : FirstCauses(errors)) {
      problems.push_back(document.Problem(error, nullptr));
      for (const auto& [uri, why] : missing) {
        const bool this_one = error.Code() == sdf::ErrorCode::URI_LOOKUP && absl::StrContains(error.Message(), uri);
        if (this_one) absl::StrAppend(&problems.back(), ": ", why);
      }
    }
    if (!read && problems.empty()) problems.push_back(absl::StrCat(file, ": is refused by libsdformat"));
    if (!problems.empty()) return JoinProblems(problems);
    document.Check(tree->Root()->GetFirstElement(), "model", &problems);
    if (!problems.empty()) return JoinProblems(problems);
    for (const sdf::Error& error : document.root_.Load(tree, config)) problems.push_back(document.Problem(error, nullptr));
    if (problems.empty() && document.root_.Model() == nullptr) problems.push_back(absl::StrCat(file, ": sdf: needs a <model>"));
  } catch (const std::exception& error) {
    problems.push_back(absl::StrCat(file, ": is refused by libsdformat: ", error.what()));
  }
  if (!problems.empty()) return JoinProblems(problems);
  return document;
}

}  // namespace eipc
