#ifndef EIPC_SIM_DYNAMICS_RETRY_H_
#define EIPC_SIM_DYNAMICS_RETRY_H_

namespace eipc {

// Why a part of a step, or the stage that it has come to, is to be solved again. The loop in step.cc applies it.
//
// Two fallbacks are not retries of a part: implicit friction that is not found is lagged (StageSolver::FindRoot), and a part that
// is refused at the finest size is taken by backward Euler (PartSchedule).
enum class Retry {
  kNone,     // it was solved: continue
  kStiffen,  // the stage again, with a stiffer barrier: an impact presses gaps to a hundredth of dhat (Stiffen)
  kVerify,   // the stage again, with the exact check of every point: surfaces of its solution intersect
  kWake,     // the part again, with the bodies awake that it disturbed
  kHalve,    // half the part: its end is blocked or beyond a point that was not solved, or a stage took too many iterations
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_RETRY_H_
