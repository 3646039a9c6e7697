#include "sim/material/planted_spring.h"

#include "sim/material/material.h"

namespace eipc {
namespace {

constexpr MaterialParameter kParameters[] = {
    {"planted_stiffness_pa", "Pa", "stiffness of the springs", &MaterialSpec::planted_stiffness_pa, Bounds::Positive()}};

}  // namespace

const MaterialDescriptor PlantedSpring::kDescriptor = {
    "PLANTED_SPRING", "k/2 |F - R|^2", kParameters,
    [](const MaterialSpec& m) -> Material { return PlantedSpring(m.planted_stiffness_pa); }};

double PlantedSpring::Psi(const Mat3& F, const Mat3& R0) const { return 0.5 * k_ * (F - R0).squaredNorm(); }
Mat3 PlantedSpring::P(const Mat3& F, const Mat3& R0) const { return k_ * (F - R0); }
Mat9 PlantedSpring::Hessian(const Mat3&, const Mat3&) const { return k_ * Mat9::Identity(); }

}  // namespace eipc
