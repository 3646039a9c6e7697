#ifndef EIPC_SIM_DYNAMICS_RETRY_H_
#define EIPC_SIM_DYNAMICS_RETRY_H_

namespace eipc {

// Why a part of a step, or the stage that it has come to, is to be solved again. The loop in step.cc applies it.
enum class Retry {
  kNone,     // it was solved: continue
  kStiffen,  // the stage again, with a stiffer barrier: an impact presses gaps to a hundredth of dhat (Stiffen)
  kVerify,   // the stage again, with the exact check of every point: surfaces of its solution intersect
  kWake,     // the part again, with the bodies awake that it disturbed
  kHalve,    // half the part: its end point is blocked, or a stage took too many iterations
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_RETRY_H_
