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
class TurningMotion {
 public:
  explicit TurningMotion(const Model& model);

  // Writes q(a) (stacked) for the displacement `d` and a = `fraction`. False: it is q + a d for every body.
  bool Follow(const VecX& q, const VecX& d, double fraction, VecX* out) const;

 private:
  std::vector<IndexRange> free_bodies_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_TURNING_MOTION_H_
