#ifndef EIPC_SIM_COLLISION_VIEW_FRAME_H_
#define EIPC_SIM_COLLISION_VIEW_FRAME_H_

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/quad.h"
#include "sim/base/types.h"
#include "sim/collision/region_bounds.h"
#include "sim/collision/surface_summaries.h"

namespace eipc {

// A frame that a body is seen from: p = rotation^T (x - centroid), the origin at the mean of its nodes. Two things of one body are
// as far apart in it as in the world, whatever the rotation is.
struct ViewFrame {
  Vec3 centroid = Vec3::Zero();
  Mat3 rotation = Mat3::Identity();
  bool turned = false;  // the rotation may not be the identity

  Vec3 See(const Vec3& x) const {
    const Vec3 p = x - centroid;
    return turned ? Vec3(rotation.transpose() * p) : p;
  }
};

// The same for positions as three numbers and a zero.
class QuadFrame {
 public:
  QuadFrame() = default;
  explicit QuadFrame(const ViewFrame& frame) : centroid_(LoadThree(frame.centroid.data())), turned_(frame.turned) {
    for (int i = 0; i < 3; ++i) rows_[i] = Quad{frame.rotation(i, 0), frame.rotation(i, 1), frame.rotation(i, 2), 0};
  }
  Quad See(const Quad& x) const {
    const Quad p = x - centroid_;
    return turned_ ? Splat(p[0]) * rows_[0] + Splat(p[1]) * rows_[1] + Splat(p[2]) * rows_[2] : p;
  }

 private:
  Quad centroid_ = {};
  Quad rows_[3] = {};  // of the rotation
  bool turned_ = false;
};

// The axes that bodies are seen along.
enum class ViewAxes {
  kOfWorld,
  // Turned so that some of its nodes are as near as possible to where they are at rest, in the mean square. Those of sheets are the
  // world's.
  kOfBody,
};

// Frames of bodies; functions of q alone. The last few rotations are kept: the same states are asked for again and again.
class ViewFrames {
 public:
  ViewFrames(ViewAxes axes, const SurfaceSummaries* summaries);

  ViewFrame Of(int32_t body, const VecX& q) { return Of(body, q, NodeCentroid(*summaries_, body, q)); }
  // Where the centroid is known.
  ViewFrame Of(int32_t body, const VecX& q, const Vec3& centroid);

 private:
  static constexpr size_t kNodes = SurfaceSummaries::FrameNodes::kMost;
  struct Known {
    std::array<Vec3, kNodes> nodes;  // m
    Mat3 rotation;
  };
  struct Body {
    std::array<Known, 3> known;
    size_t count = 0, oldest = 0;
  };
  const Mat3& Rotation(int32_t body, const VecX& q);

  ViewAxes axes_;
  const SurfaceSummaries* summaries_;
  std::vector<Body> bodies_;
};

// How much of a straight path between two states is not straight where it is seen from frames that turn along, from the first to
// the second: see docs/concepts/collision_detection.md, "Seen from a frame that turns".
class PathBend {
 public:
  PathBend(const ViewFrame& from, const ViewFrame& to);
  // What is at p and r at the ends, |p| and |r| at most `size` and |p - r| at most `change`, is never farther than this from the
  // straight line between them. For affine maps in place of points as well, with Frobenius norms.
  double Bulge(double size, double change) const { return kRoundUp * (shrink_ * size + 0.5 * sine_ * change); }

 private:
  double sine_ = 0;    // of half the angle between both frames
  double shrink_ = 0;  // 1 - cosine of the same
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_VIEW_FRAME_H_
