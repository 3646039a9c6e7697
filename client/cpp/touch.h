#ifndef EIPC_CLIENT_CPP_TOUCH_H_
#define EIPC_CLIENT_CPP_TOUCH_H_

// What a body feels through its surface. SI units, world frame, end of the step.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/geometry.h"

namespace eipc::client {

struct Observation;

// Contact forces of other bodies on the vertices of a body's surface; one row for each of the k vertices that a contact acts on.
// Their sum, and that of their moments, is the sum of the body's contact wrenches. All arrays have k rows.
struct ContactTractions {
  std::vector<int32_t> vertices;  // increasing: rows of surface_positions
  Vectors normal_force_n;
  Vectors friction_force_n;
  std::vector<double> area_m2;  // a third of the triangles at the vertex, as they are deformed
  // How the body slides there on the others, without the part along the contact's normal: means over the contacts at the vertex,
  // weighed by their normal forces on it. Empty: of a server that does not say.
  Vectors slip_velocity_m_s = {};

  // Of a row, which must be less than vertices.size().
  Vector3 ForceN(size_t row) const;
  // Unit direction of the normal force, into the body; zero where there is none.
  Vector3 Normal(size_t row) const;
  // Normal force over area; 0 where the area is.
  double PressurePa(size_t row) const;
  // Friction force over area, and both forces over area; 0 where the area is.
  Vector3 FrictionTractionPa(size_t row) const;
  Vector3 TractionPa(size_t row) const;

  Vector3 TotalForceN() const;
  // Values by row ([k]) as values of all vertices of the body's surface: 0 where no contact acts. INVALID_ARGUMENT: not k values,
  // or fewer vertices than the rows name.
  absl::StatusOr<std::vector<double>> OnSurface(std::span<const double> values, size_t surface_vertices) const;
};

// How far a pair has slid since it began to touch.
struct SlideTotal {
  double begun_s = 0;                  // simulated time when the first step began that ended in contact
  Vector3 displacement_m = {0, 0, 0};  // integral of the slip velocity
  double path_m = 0;                   // of its magnitude
};

// How `body` slides on `other` where they touch, without the part along the contact's normal: means over their contacts, weighed by
// the normal forces.
struct PairSlip {
  std::string body;
  std::string other;
  double normal_force_n = 0;  // magnitudes summed over the contacts
  Vector3 velocity_m_s = {0, 0, 0};
  // Share of normal_force_n at contacts that hold (slower than the scene's friction velocity, with friction): 1 sticks, 0 slips.
  double sticking = 0;
  // Of scenes with contact.track_slip.
  std::optional<SlideTotal> since_contact = {};

  // Less than half of the normal force is at contacts that hold.
  bool slipping() const { return sticking < 0.5; }
  // The same of `other` on `body`.
  PairSlip Reversed() const;
};

// The greatest von Mises stress that each element has had, over the observations that are added. What a request of several steps
// passes through between its observations is not seen.
class PeakStress {
 public:
  // Of observations with stresses. INVALID_ARGUMENT: one without, or one whose bodies have other numbers of elements than before;
  // then nothing is added.
  absl::Status Add(const Observation& observation);
  // By body: [t] Pa, in the order of its elements.
  const std::map<std::string, std::vector<double>>& von_mises_pa() const { return peaks_; }
  // Which elements of a body have been above the limit. NOT_FOUND: a body without stresses.
  absl::StatusOr<std::vector<bool>> Damaged(const std::string& body, double limit_pa) const;

 private:
  std::map<std::string, std::vector<double>> peaks_;
};

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_TOUCH_H_
