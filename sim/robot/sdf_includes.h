#ifndef EIPC_SIM_ROBOT_SDF_INCLUDES_H_
#define EIPC_SIM_ROBOT_SDF_INCLUDES_H_

#include <tinyxml.h>

#include <string>
#include <vector>

#include "sim/robot/mesh_location.h"

namespace eipc {

// What is wrong with the files that a description in SDF includes, itself or through others, a line for each problem: one that
// includes itself, which libsdformat would follow until its stack ends; more of them than there may be; one that is no XML; and one
// that libsdformat would take from the present folder instead of where FindIncluded() has it. Files that are not found are left to
// libsdformat.
std::vector<std::string> IncludeProblems(const TiXmlDocument& document, const std::string& file, const PackageFolders& packages);

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_SDF_INCLUDES_H_
