#include "sim/robot/read_robot.h"

#include <tinyxml.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/robot/import_parts.h"
#include "sim/robot/read_urdf.h"
#include "sim/robot/sdf_module.h"
#include "sim/robot/xml_text.h"

namespace eipc {

absl::StatusOr<RobotImport> ReadRobot(const std::string& file, const PackageFolders& packages) {
  EIPC_ASSIGN_OR_RETURN(const std::string text, ReadDescription(file));
  EIPC_ASSIGN_OR_RETURN(const std::unique_ptr<TiXmlDocument> document, ParseXml(text, file));
  const TiXmlElement* root = document->RootElement();
  if (root != nullptr && root->ValueStr() == "sdf") return ParseSdfByModule(text, file, packages);
  if (root != nullptr && root->ValueStr() == "robot") return ParseUrdf(text, file, packages);
  return absl::InvalidArgumentError(absl::StrCat(file, ":", root == nullptr ? 1 : root->Row(),
                                                 ": its first element must be <robot> (URDF) or <sdf>",
                                                 root == nullptr ? "" : absl::StrCat(", not <", root->ValueStr(), ">")));
}

}  // namespace eipc
