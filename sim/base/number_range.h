#ifndef EIPC_SIM_BASE_NUMBER_RANGE_H_
#define EIPC_SIM_BASE_NUMBER_RANGE_H_

namespace eipc {

// How large numbers of scenes may be, in SI units: far beyond what is physical, and small enough that masses, moments, stiffnesses
// and energies, which are products of several of them, stay in the range of double. Lengths enter with the fifth power.
inline constexpr double kLargestNumber = 1e30;
inline constexpr double kLargestLength = 1e12;
// Of the extent of a mesh, whose volume must not vanish; and of what is divided by.
inline constexpr double kSmallestExtent = 1e-12;
inline constexpr double kSmallestDivisor = 1e-30;

}  // namespace eipc

#endif  // EIPC_SIM_BASE_NUMBER_RANGE_H_
