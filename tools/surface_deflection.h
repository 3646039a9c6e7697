#ifndef EIPC_TOOLS_SURFACE_DEFLECTION_H_
#define EIPC_TOOLS_SURFACE_DEFLECTION_H_

#include <vector>

#include "sim/dynamics/model.h"

namespace eipc {

// How a body's surface departs from its shape at rest, whatever rigid motion it has made.
class SurfaceDeflection {
 public:
  SurfaceDeflection(const Model& model, int body);

  // Displacements of the body's surface vertices in its frame at rest, m, after the rigid motion that fits best (mean squares by
  // area). `x`: surface positions of all bodies.
  std::vector<Vec3> Of(const std::vector<Vec3>& x) const;
  // Root of the mean square by area, m.
  double Rms(const std::vector<Vec3>& u) const;
  // The same of the difference of two fields.
  double RmsDifference(const std::vector<Vec3>& u, const std::vector<Vec3>& v) const;
  const std::vector<Vec3>& rest() const { return rest_; }

 private:
  Vec3 Mean(const std::vector<Vec3>& p, size_t begin) const;

  IndexRange vertices_;
  std::vector<Vec3> rest_;     // about their mean
  std::vector<double> share_;  // of the surface's area
};

}  // namespace eipc

#endif  // EIPC_TOOLS_SURFACE_DEFLECTION_H_
