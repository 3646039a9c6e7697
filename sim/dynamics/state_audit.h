#ifndef EIPC_SIM_DYNAMICS_STATE_AUDIT_H_
#define EIPC_SIM_DYNAMICS_STATE_AUDIT_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

struct Model;
struct State;

// What the exact audit found in one accepted state, or in several together.
struct StateAudit {
  int64_t states = 0;                // 0: nothing was audited
  int64_t intersections = 0;         // pairs of triangles that meet
  int64_t inversions = 0;            // elements with exact orientation <= 0, all materials
  int64_t forbidden_inversions = 0;  // those of materials whose energy forbids them
  // Smallest distance of two features as a part of what the thicknesses of sheets leave them; infinity where none are near.
  double least_relative_distance = std::numeric_limits<double>::infinity();
  double seconds = 0;  // what it cost
  bool passed() const { return intersections == 0 && forbidden_inversions == 0 && !(least_relative_distance < 1); }
  void Add(const StateAudit& other);
};

// Every enabled pair of bodies and every element of the state, whose surface positions are `x`, with exact predicates.
StateAudit AuditState(const Model& model, const State& state, const std::vector<Vec3>& x);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STATE_AUDIT_H_
