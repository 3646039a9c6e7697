#ifndef EIPC_SIM_SENSOR_CONTACT_RESOLUTION_H_
#define EIPC_SIM_SENSOR_CONTACT_RESOLUTION_H_

#include <map>
#include <utility>
#include <vector>

#include "sim/contact/contact_forces.h"
#include "sim/dynamics/model.h"

namespace eipc {

// How finely the triangles of `body` resolve its contact with `other`. Contact forces converge under refinement of both surfaces;
// where a patch of contact is hardly longer than an edge, force and area are those of the mesh rather than of the body.
struct ContactResolution {
  int32_t body = 0;
  int32_t other = 0;
  double normal_n = 0;   // magnitudes of the stencils' normal forces, summed
  double by_points = 0;  // share of normal_n that vertices of `body` carry on triangles of `other`
  double by_edges = 0;   // share that edges carry on edges; the rest, vertices of `other` carry on triangles of `body`
  double vertices = 0;   // of `body` that carry the force: (sum f)^2 / sum f^2 over them; n where n of them carry the same
  double edge_m = 0;     // mean rest length of the edges at these vertices, weighted by f
  double patch_m = 0;    // greatest length of the patch: of an ellipse, uniformly loaded, with the second moment of the forces
  double patch_edges() const { return edge_m > 0 ? patch_m / edge_m : 0; }
};

// Over the states of a run, by ordered pair of bodies, each at the state in which the pair's normal_n is greatest.
class ContactResolutionMeter {
 public:
  explicit ContactResolutionMeter(const Model* model);

  // x: positions of the collision surface's vertices, m, world frame.
  void Add(const std::vector<Vec3>& x, const ContactForces& contacts);
  std::vector<ContactResolution> Greatest() const;

 private:
  const Model* model_;
  std::vector<double> edge_m_;  // by vertex
  std::map<std::pair<int32_t, int32_t>, ContactResolution> greatest_;
};

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_CONTACT_RESOLUTION_H_
