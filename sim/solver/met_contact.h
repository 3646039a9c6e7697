#ifndef EIPC_SIM_SOLVER_MET_CONTACT_H_
#define EIPC_SIM_SOLVER_MET_CONTACT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// A contact that a direction leads into, and what the quadratic model of the energy at its start has of it (ContactCorrection).
struct MetContact {
  std::array<int32_t, 4> v;  // its vertices, ascending
  VecX gradient;             // of its gap by nodes, zero at fixed ones
  double gap = 0;            // m, at the start, on the straight line back from where the direction was cut short
  double force = 0;          // N, in the model, and its rate
  double stiffness = 0;      // N/m; both 0: the model does not know it
  double dhat = 0;           // m
  double scale = 0;          // times the force of a barrier of unit stiffness and this dhat: its force, N
};

// Those of one direction and its corrections. What is taken away is kept for the next ones, with its memory.
class MetContacts {
 public:
  void Clear() { count_ = 0; }
  size_t size() const { return count_; }
  MetContact& operator[](size_t i) { return contacts_[i]; }
  const MetContact& operator[](size_t i) const { return contacts_[i]; }
  bool Has(const std::array<int32_t, 4>& v) const {
    for (size_t i = 0; i < count_; ++i) {
      if (contacts_[i].v == v) return true;
    }
    return false;
  }
  MetContact& Add() {
    if (count_ == contacts_.size()) contacts_.emplace_back();
    return contacts_[count_++];
  }

 private:
  std::vector<MetContact> contacts_;
  size_t count_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_MET_CONTACT_H_
