#ifndef EIPC_TESTS_SIM_MATERIAL_MATERIAL_CASES_H_
#define EIPC_TESTS_SIM_MATERIAL_MATERIAL_CASES_H_

// The rows of the material battery. A new material gets a row here and passes every typed test of this folder.

#include <gtest/gtest.h>

#include <vector>

#include "sim/material/lame.h"
#include "sim/material/material.h"

namespace eipc::testing {

constexpr double kYoungsPa = 5e4;

struct LinearCorotatedCase {
  using Type = LinearCorotated;
  static std::vector<Type> Make() { return {Type::FromModuli(kYoungsPa, 0.45), Type::FromModuli(kYoungsPa, 0)}; }
  static Lame Expected(int k) { return Lame::FromModuli(kYoungsPa, k == 0 ? 0.45 : 0); }
};

struct FixedCorotatedCase {
  using Type = FixedCorotated;
  static std::vector<Type> Make() { return {Type::FromModuli(kYoungsPa, 0.45), Type::FromModuli(kYoungsPa, 0)}; }
  static Lame Expected(int k) { return Lame::FromModuli(kYoungsPa, k == 0 ? 0.45 : 0); }
};

struct StableNeoHookeanCase {
  using Type = StableNeoHookean;
  static std::vector<Type> Make() { return {Type::FromModuli(kYoungsPa, 0.45), Type::FromModuli(kYoungsPa, 0)}; }
  static Lame Expected(int k) { return Lame::FromModuli(kYoungsPa, k == 0 ? 0.45 : 0); }
};

struct LogBarrierNeoHookeanCase {
  using Type = LogBarrierNeoHookean;
  static std::vector<Type> Make() { return {Type::FromModuli(kYoungsPa, 0.45), Type::FromModuli(kYoungsPa, 0)}; }
  static Lame Expected(int k) { return Lame::FromModuli(kYoungsPa, k == 0 ? 0.45 : 0); }
};

struct StVenantKirchhoffCase {
  using Type = StVenantKirchhoff;
  static std::vector<Type> Make() { return {Type::FromModuli(kYoungsPa, 0.45), Type::FromModuli(kYoungsPa, 0)}; }
  static Lame Expected(int k) { return Lame::FromModuli(kYoungsPa, k == 0 ? 0.45 : 0); }
};

struct MooneyRivlinCase {
  using Type = MooneyRivlin;
  static std::vector<Type> Make() {
    return {Type::FromModuli(kYoungsPa, 0.45, 0.3), Type::FromModuli(kYoungsPa, 0.3, 0), Type::FromModuli(kYoungsPa, 0.3, 1)};
  }
  static Lame Expected(int k) { return Lame::FromModuli(kYoungsPa, k == 0 ? 0.45 : 0.3); }
};

// Small strain: kappa |F F^T - I|^2 -> 4 kappa |eps|^2.
struct AbdOrthogonalityCase {
  using Type = AbdOrthogonality;
  static std::vector<Type> Make() { return {Type::FromStiffness(kYoungsPa)}; }
  static Lame Expected(int /*k*/) { return {4 * kYoungsPa, 0}; }
};

using MaterialCases = ::testing::Types<LinearCorotatedCase, FixedCorotatedCase, StableNeoHookeanCase, LogBarrierNeoHookeanCase,
                                       StVenantKirchhoffCase, MooneyRivlinCase, AbdOrthogonalityCase>;
static_assert(std::variant_size_v<Material> == 7, "a new material needs a row in MaterialCases");

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_MATERIAL_MATERIAL_CASES_H_
