#ifndef EIPC_SIM_COLLISION_DEFORMATION_BOUNDS_H_
#define EIPC_SIM_COLLISION_DEFORMATION_BOUNDS_H_

#include <vector>

#include "sim/collision/surface_summaries.h"
#include "sim/collision/view_frame.h"

namespace eipc {

// Where the deformation gradients of elements may be, and what follows for self-contact (see SurfaceSummaries).
class DeformationBounds {
 public:
  DeformationBounds(const SurfaceSummaries* summaries, double dhat)
      : summaries_(summaries), dhat_(dhat), balls_(summaries->elements.size()) {}

  // A state, and the frame that it is seen from.
  struct Seen {
    const VecX& q;
    const ViewFrame& frame;
  };
  // Of the body's elements: within `slack` (Frobenius norm) of the straight path from one state to the other, and of what the path
  // looks like from frames that turn along.
  void Set(int32_t body, const Seen& from, const Seen& to, double slack);
  // Whether they hold the straight path between two states, which may be the same. They are convex, so its ends decide, with what
  // it leaves a straight line by (PathBend).
  bool Cover(int32_t body, const Seen& from, const Seen& to) const;
  // Whether nothing of one node of the body's tree can be in contact with anything of the other.
  bool ProveApart(int32_t body, int32_t node, int32_t other) const;

 private:
  struct Ball {
    Mat3 middle;
    double radius = 0;
    double stretch = 0;  // smallest singular value of the middle, rounded down
  };
  Mat3 Gradient(int32_t element, const Seen& at) const;
  // Of the balls of two summaries: largest distance of their middles and of their points from a matrix, and the largest radius.
  struct Extent {
    double distance = 0;
    double reach = 0;
    double radius = 0;
  };
  double PathDistortion(int32_t element, int32_t other) const;
  Mat3 Mean(const NodeSummary& a, const NodeSummary& b) const;
  Extent ExtentAround(const Mat3& m, const NodeSummary& a, const NodeSummary& b) const;

  const SurfaceSummaries* summaries_;
  double dhat_;
  std::vector<Ball> balls_;  // by element
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_DEFORMATION_BOUNDS_H_
