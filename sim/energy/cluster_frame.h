#ifndef EIPC_SIM_ENERGY_CLUSTER_FRAME_H_
#define EIPC_SIM_ENERGY_CLUSTER_FRAME_H_

#include "sim/base/types.h"

namespace eipc {

// The frame that turns with a cluster of a condensed body, of its mean deformation F = R S.
struct ClusterFrame {
  Mat3 rotation = Mat3::Identity();        // R
  Mat3 stretch = Mat3::Identity();         // S, symmetric
  Mat3 torque_inverse = Mat3::Identity();  // (tr S I - S)^-1: how the frame turns with F
};

// Two stretches whose sum is small leave the rotation without a meaning: (tr S I - S) counts as at least 1e-3 in every direction.
ClusterFrame FrameOf(const Mat3& f);

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_CLUSTER_FRAME_H_
