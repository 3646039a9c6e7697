#ifndef EIPC_TOOLS_SOFT_PART_H_
#define EIPC_TOOLS_SOFT_PART_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/mesh/mesh_data.h"
#include "sim/robot/robot.h"
#include "tools/robot_scene.h"

namespace eipc {

// A soft pad or finger of tetrahedra on a link.
struct SoftPart {
  std::string name;  // of its body
  std::string link;
  MeshData mesh;  // scaled, m
  Pose pose;      // of the mesh's frame, in the link's
  double youngs_modulus_pa = 1e5;
  double poissons_ratio = 0.4;
  double density_kg_m3 = 1000;
  double strain_damping_s = 0;
  // The vertices that the link holds: in this box of the mesh's frame (lower and upper corner, m), and no further than this from
  // the link's collision shapes or inside of them. At least one is given.
  std::optional<std::pair<Vec3, Vec3>> box;
  std::optional<double> within_m;
};

// "NAME link=LINK mesh=FILE within=0.001 ...": docs/howto/robots.md lists the keys. INVALID_ARGUMENT that names the key, or what is
// wrong with the mesh.
absl::StatusOr<SoftPart> ParseSoftPart(const std::string& text);

// Adds soft parts to the scene that was made of a robot: a body each, and the attachment "NAME_held" that holds its vertices on the
// first body of the link. It does not touch what moves rigidly with the link. INVALID_ARGUMENT: a link that does not exist or has
// no shape, a name that is taken, no vertex to hold.
absl::Status AddSoftParts(const Robot& robot, const RobotSceneOptions& options, const std::vector<SoftPart>& parts,
                          RobotScene* made);

}  // namespace eipc

#endif  // EIPC_TOOLS_SOFT_PART_H_
