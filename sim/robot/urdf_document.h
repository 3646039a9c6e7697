#ifndef EIPC_SIM_ROBOT_URDF_DOCUMENT_H_
#define EIPC_SIM_ROBOT_URDF_DOCUMENT_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

class TiXmlDocument;
class TiXmlElement;

namespace eipc {

// The XML of a robot description, with the place of everything in it: urdfdom reads numbers and shapes, but neither says where
// something is wrong, nor what it passed over.
class UrdfDocument {
 public:
  // `file` is quoted in messages. INVALID_ARGUMENT: no well-formed XML of a robot, or one that is nested or long beyond reason.
  static absl::StatusOr<UrdfDocument> Parse(const std::string& text, const std::string& file);
  ~UrdfDocument();
  UrdfDocument(UrdfDocument&&) noexcept;

  const TiXmlElement& robot() const { return *robot_; }
  // "link" or "joint", in the order of the file.
  std::vector<const TiXmlElement*> Elements(const char* kind) const;
  // The element at a path below `element`, e.g. {"geometry", "mesh"}; `element` itself where there is none.
  static const TiXmlElement& Below(const TiXmlElement& element, const std::vector<const char*>& path);
  // "arm.urdf:12: robot/joint[@name="elbow"]/axis".
  std::string Place(const TiXmlElement& element) const;

  // Adds what is wrong with elements and attributes on their own: numbers that are none or not finite, what is required and not
  // there. `ignored` gets what an import does not read, one line for each kind.
  void Check(std::vector<std::string>* problems, std::vector<std::string>* ignored) const;

 private:
  UrdfDocument(std::unique_ptr<TiXmlDocument> document, const TiXmlElement* robot, std::string file);
  // Occurrences of what is ignored, by its path without names.
  struct Ignored {
    int count = 0;
    int first_line = 0;
  };
  using IgnoredElements = std::map<std::string, Ignored>;
  void CheckElement(const TiXmlElement& element, const std::string& path, std::vector<std::string>* problems,
                    IgnoredElements* ignored) const;
  void CheckAttributes(const TiXmlElement& element, const std::string& path, std::vector<std::string>* problems,
                       IgnoredElements* ignored) const;

  std::unique_ptr<TiXmlDocument> document_;
  const TiXmlElement* robot_;
  std::string file_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_URDF_DOCUMENT_H_
