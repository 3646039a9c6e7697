#include "sim/robot/urdf_document.h"

#include <tinyxml.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "sim/base/status_macros.h"
#include "sim/robot/xml_text.h"

namespace eipc {
namespace {

constexpr char kGeometry[] = "robot/link/collision/geometry";

struct AttributeRow {
  const char* name;
  int numbers;  // 0: a text
  bool required;
};

struct ElementRow {
  const char* path;
  bool repeats;
  std::vector<AttributeRow> attributes;
};

const std::vector<AttributeRow>& OriginAttributes() {
  static const std::vector<AttributeRow> attributes = {{"xyz", 3, false}, {"rpy", 3, false}};
  return attributes;
}

// Everything that an import reads, after the specification of URDF (version 1.0).
const std::vector<ElementRow>& ElementRows() {
  static const std::vector<ElementRow> rows = {
      {"robot", false, {{"name", 0, true}, {"version", 0, false}}},
      {"robot/link", true, {{"name", 0, true}}},
      {"robot/link/inertial", false, {}},
      {"robot/link/inertial/origin", false, OriginAttributes()},
      {"robot/link/inertial/mass", false, {{"value", 1, true}}},
      {"robot/link/inertial/inertia",
       false,
       {{"ixx", 1, true}, {"ixy", 1, true}, {"ixz", 1, true}, {"iyy", 1, true}, {"iyz", 1, true}, {"izz", 1, true}}},
      {"robot/link/collision", true, {{"name", 0, false}}},
      {"robot/link/collision/origin", false, OriginAttributes()},
      {"robot/link/collision/geometry", false, {}},
      {"robot/link/collision/geometry/box", false, {{"size", 3, true}}},
      {"robot/link/collision/geometry/sphere", false, {{"radius", 1, true}}},
      {"robot/link/collision/geometry/cylinder", false, {{"radius", 1, true}, {"length", 1, true}}},
      {"robot/link/collision/geometry/mesh", false, {{"filename", 0, true}, {"scale", 3, false}}},
      {"robot/joint", true, {{"name", 0, true}, {"type", 0, true}}},
      {"robot/joint/origin", false, OriginAttributes()},
      {"robot/joint/parent", false, {{"link", 0, true}}},
      {"robot/joint/child", false, {{"link", 0, true}}},
      {"robot/joint/axis", false, {{"xyz", 3, true}}},
      {"robot/joint/limit", false, {{"lower", 1, false}, {"upper", 1, false}, {"effort", 1, true}, {"velocity", 1, true}}},
      {"robot/joint/dynamics", false, {{"damping", 1, false}, {"friction", 1, false}}},
      {"robot/joint/mimic", false, {{"joint", 0, true}, {"multiplier", 1, false}, {"offset", 1, false}}},
  };
  return rows;
}

// Elements that must be in one, whatever else is.
const std::vector<std::pair<const char*, const char*>>& RequiredElements() {
  static const std::vector<std::pair<const char*, const char*>> required = {
      {"robot", "link"},
      {"robot/link/inertial", "mass"},
      {"robot/link/inertial", "inertia"},
      {"robot/link/collision", "geometry"},
      {"robot/joint", "parent"},
      {"robot/joint", "child"},
  };
  return required;
}

const ElementRow* FindRow(const std::string& path) {
  const std::vector<ElementRow>& rows = ElementRows();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const ElementRow& row) { return path == row.path; });
  return found == rows.end() ? nullptr : &*found;
}

// What is wrong with an attribute that must hold `count` numbers; empty when it is sound.
std::string NumberProblem(const std::string& text, int count) {
  if (text.find_first_of("\t\r\n") != std::string::npos) return "holds a tab or a line break; separate numbers by spaces";
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (static_cast<int>(words.size()) != count) {
    return absl::StrCat("must be ", count == 1 ? "a number" : absl::StrCat(count, " numbers"), ", got \"", text, "\"");
  }
  for (const absl::string_view word : words) {
    double value;
    if (!absl::SimpleAtod(word, &value)) return absl::StrCat("\"", word, "\" is not a number");
    if (!std::isfinite(value)) return absl::StrCat("must be finite, got ", word);
  }
  return "";
}

std::string WithName(const TiXmlElement& element) {
  const char* name = element.Attribute("name");
  return name == nullptr ? element.ValueStr() : absl::StrCat(element.ValueStr(), "[@name=\"", name, "\"]");
}

}  // namespace

UrdfDocument::UrdfDocument(std::unique_ptr<TiXmlDocument> document, const TiXmlElement* robot, std::string file)
    : document_(std::move(document)), robot_(robot), file_(std::move(file)) {}
UrdfDocument::~UrdfDocument() = default;
UrdfDocument::UrdfDocument(UrdfDocument&&) noexcept = default;

absl::StatusOr<UrdfDocument> UrdfDocument::Parse(const std::string& text, const std::string& file) {
  const auto refuse = [&](const auto&... why) { return absl::InvalidArgumentError(absl::StrCat(file, why...)); };
  EIPC_ASSIGN_OR_RETURN(std::unique_ptr<TiXmlDocument> document, ParseXml(text, file));
  const TiXmlElement* root = document->RootElement();
  if (root == nullptr || root->ValueStr() != "robot") {
    return refuse(":", root == nullptr ? 1 : root->Row(), ": its first element must be <robot>",
                  root == nullptr ? "" : absl::StrCat(", not <", root->ValueStr(), ">"));
  }
  return UrdfDocument(std::move(document), root, file);
}

std::vector<const TiXmlElement*> UrdfDocument::Elements(const char* kind) const {
  std::vector<const TiXmlElement*> found;
  for (const TiXmlElement* e = robot_->FirstChildElement(kind); e != nullptr; e = e->NextSiblingElement(kind)) found.push_back(e);
  return found;
}

const TiXmlElement& UrdfDocument::Below(const TiXmlElement& element, const std::vector<const char*>& path) {
  const TiXmlElement* at = &element;
  for (const char* name : path) {
    const TiXmlElement* next = at->FirstChildElement(name);
    if (next == nullptr) break;
    at = next;
  }
  return *at;
}

std::string UrdfDocument::Place(const TiXmlElement& element) const {
  std::string path;
  for (const TiXmlNode* at = &element; at != nullptr && at->ToElement() != nullptr; at = at->Parent()) {
    const std::string name = at == robot_ ? at->ValueStr() : WithName(*at->ToElement());
    path = path.empty() ? name : absl::StrCat(name, "/", path);
  }
  return absl::StrCat(file_, ":", element.Row(), ": ", path);
}

void UrdfDocument::CheckAttributes(const TiXmlElement& element, const std::string& path, std::vector<std::string>* problems,
                                   IgnoredElements* ignored) const {
  const std::vector<AttributeRow>& rows = FindRow(path)->attributes;
  for (const AttributeRow& row : rows) {
    const std::string* value = element.Attribute(std::string(row.name));
    if (value == nullptr) {
      if (row.required) problems->push_back(absl::StrCat(Place(element), ": needs the attribute ", row.name));
      continue;
    }
    const std::string problem = row.numbers > 0 ? NumberProblem(*value, row.numbers) : value->empty() ? "must not be empty" : "";
    if (!problem.empty()) problems->push_back(absl::StrCat(Place(element), "/@", row.name, ": ", problem));
  }
  for (const TiXmlAttribute* a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
    if (std::any_of(rows.begin(), rows.end(), [&](const AttributeRow& row) { return a->NameTStr() == row.name; })) continue;
    Ignored& seen = (*ignored)[absl::StrCat(path, "/@", a->NameTStr())];
    if (seen.count++ == 0) seen.first_line = element.Row();
  }
}

void UrdfDocument::CheckElement(const TiXmlElement& element, const std::string& path, std::vector<std::string>* problems,
                                IgnoredElements* ignored) const {
  CheckAttributes(element, path, problems, ignored);
  for (const auto& [parent, child] : RequiredElements()) {
    if (path == parent && element.FirstChildElement(child) == nullptr) {
      problems->push_back(absl::StrCat(Place(element), ": needs an element <", child, ">"));
    }
  }
  if (const TiXmlElement* shape = element.FirstChildElement(); path == kGeometry) {
    const bool one = shape != nullptr && shape->NextSiblingElement() == nullptr;
    if (!one || FindRow(absl::StrCat(path, "/", shape->ValueStr())) == nullptr) {
      problems->push_back(absl::StrCat(Place(element), ": must hold one of <box>, <sphere>, <cylinder> and <mesh>"));
      return;
    }
  }
  std::set<std::string> met;
  for (const TiXmlElement* child = element.FirstChildElement(); child != nullptr; child = child->NextSiblingElement()) {
    const std::string child_path = absl::StrCat(path, "/", child->ValueStr());
    const ElementRow* row = FindRow(child_path);
    const bool again = !met.insert(child->ValueStr()).second;
    if (row != nullptr && (row->repeats || !again)) {
      CheckElement(*child, child_path, problems, ignored);
      continue;
    }
    Ignored& seen = (*ignored)[absl::StrCat(child_path, row == nullptr ? "" : " after the first")];
    if (seen.count++ == 0) seen.first_line = child->Row();
  }
}

void UrdfDocument::Check(std::vector<std::string>* problems, std::vector<std::string>* ignored) const {
  IgnoredElements found;
  CheckElement(*robot_, "robot", problems, &found);
  for (const auto& [path, seen] : found) {
    ignored->push_back(absl::StrCat(path, seen.count == 1
                                              ? absl::StrCat(" (line ", seen.first_line, ")")
                                              : absl::StrCat(" (", seen.count, " times, first in line ", seen.first_line, ")")));
  }
}

}  // namespace eipc
