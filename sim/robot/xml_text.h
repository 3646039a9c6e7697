#ifndef EIPC_SIM_ROBOT_XML_TEXT_H_
#define EIPC_SIM_ROBOT_XML_TEXT_H_

#include <tinyxml.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace eipc {

// Parses XML. `file` is quoted in messages. INVALID_ARGUMENT: it is not well-formed, or nested or long beyond reason.
absl::StatusOr<std::unique_ptr<TiXmlDocument>> ParseXml(const std::string& text, const std::string& file);

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_XML_TEXT_H_
