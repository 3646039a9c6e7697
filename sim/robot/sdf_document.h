#ifndef EIPC_SIM_ROBOT_SDF_DOCUMENT_H_
#define EIPC_SIM_ROBOT_SDF_DOCUMENT_H_

#include <map>
#include <sdf/Element.hh>
#include <sdf/Error.hh>
#include <sdf/Model.hh>
#include <sdf/Root.hh>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/robot/mesh_location.h"

namespace eipc {

// The one model of a robot description in SDF, as libsdformat reads it: included models are in it, and what older versions of the
// format wrote differently has the form of version 1.9.
class SdfDocument {
 public:
  // `file` is quoted in messages. INVALID_ARGUMENT with a line for each problem: "FILE:LINE: PATH: what", without a line or path
  // where libsdformat gives none.
  static absl::StatusOr<SdfDocument> Parse(const std::string& text, const std::string& file, const PackageFolders& packages);

  const sdf::Model& model() const { return *root_.Model(); }
  // "hand.sdf:12: sdf/model[@name="hand"]/link[@name="palm"]", with the line of the element above where it has none.
  std::string Place(sdf::ElementPtr element) const;
  int Line(sdf::ElementPtr element) const;
  // Of an error of libsdformat, for the element whose content it is about.
  std::string Problem(const sdf::Error& error, const sdf::ElementPtr& element) const;
  // The file that an element is in.
  std::string FileOf(const sdf::ElementPtr& element) const;
  // What an import does not read, one line for each kind.
  std::vector<std::string> Ignored() const;
  // Of the format; newer ones than 1.9 are read as that.
  const std::string& version() const { return version_; }

 private:
  explicit SdfDocument(std::string file) : file_(std::move(file)) {}
  // Occurrences of what is ignored, by its path without names.
  struct Seen {
    int count = 0;
    int first_line = 0;
  };
  using SeenByPath = std::map<std::string, Seen>;
  void ListIgnored(const sdf::ElementPtr& element, const std::string& path, SeenByPath* ignored) const;
  void Check(const sdf::ElementPtr& element, const std::string& path, std::vector<std::string>* problems) const;
  void CheckJoint(const sdf::ElementPtr& joint, std::vector<std::string>* problems) const;

  std::string file_;
  std::string version_;
  sdf::Root root_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_SDF_DOCUMENT_H_
