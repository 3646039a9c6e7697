#ifndef EIPC_SIM_DYNAMICS_TURNING_MOTION_H_
#define EIPC_SIM_DYNAMICS_TURNING_MOTION_H_

#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/model.h"

namespace eipc {

// Follows a displacement of nodes so that bodies turn instead of growing.
//
// A straight displacement d of a body that turns by the angle w stretches it by w^2 / 2, which a stiff body answers with an energy
// of the order of E w^4: with the slope g of everything else a line search along d then cannot go further than w ~ (g / E)^(1/4),
// however good the direction. So the part of d that is a rigid velocity (t, w) about the centre c of the body's nodes, found by
// least squares, is followed exactly, and only what remains is straight:
//   q(a) = c + a t + R(a w) (r + a (d - t - w x r)),  r = q - c,
// whose derivative at a = 0 is d. Bodies with driven nodes and bodies that hardly turn go straight.
//
// Joints are stiff as well, and a body that turned about its own centre would tear them. So the joints that hold bodies together
// are put into trees, whose roots are held by the world or by something driven, or else are free bodies and follow the path above.
// Every other body turns about the place p of its joint, and that goes where the body before it in the tree carries it:
//   q(a) = p' + R(a w) (r + a (d - u - w x r)),  r = q - p,   p' = c' + R' (p - c + a (u - t' - w' x (p - c))),
// u the displacement of p with the body itself, and c, t', w', R' the centre, velocity, spin and rotation of the one before it,
// with c' where that has come. Bodies of one spin and one motion of the joint then stay together exactly.
class TurningMotion {
 public:
  // The model outlives this.
  explicit TurningMotion(const Model& model);

  // Writes q(a) (stacked) for the displacement `d` and a = `fraction`. False: it is q + a d for every body.
  bool Follow(const VecX& q, const VecX& d, double fraction, VecX* out) const;

 private:
  struct Turning {
    IndexRange nodes;
    const LinearVector* pivot = nullptr;  // its joint with the body before it in the tree; null: it is free, or the root of one
    int32_t before = -1;                  // that body, as an index of this list; -1: it does not turn
  };
  // How a body moves along a fraction of its displacement: its pivot, where that comes, its velocity and spin, how far it turns.
  struct Path {
    Vec3 pivot = Vec3::Zero(), moved = Vec3::Zero(), velocity = Vec3::Zero(), spin = Vec3::Zero();
    Mat3 rotation = Mat3::Identity();
    bool turned = false;
  };
  // Of a body whose joint is at `pivot` and would go by `displacement`, after one that goes along `before`.
  static void Carry(const Path& before, const Vec3& pivot, const Vec3& displacement, double fraction, Path* path);

  std::vector<Turning> bodies_;      // those without a pivot first, then each after the one before it
  mutable std::vector<Path> paths_;  // scratch of Follow, by body of that list
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_TURNING_MOTION_H_
