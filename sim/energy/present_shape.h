#ifndef EIPC_SIM_ENERGY_PRESENT_SHAPE_H_
#define EIPC_SIM_ENERGY_PRESENT_SHAPE_H_

#include <array>
#include <vector>

#include "sim/energy/elasticity.h"

namespace eipc {

// The tetrahedra of a body in a shape that it has taken, in place of its shape at rest.
class PresentShape {
 public:
  static constexpr double kFlattest = 1e-3;  // of the volume at rest; flatter elements are left out

  explicit PresentShape(const ElasticBody* body) : body_(body), volume_(body->nodes.size()), gradient_(body->nodes.size()) {}

  // Takes stacked node positions, m. `inverted`: elements that are turned inside out count by the size of their volume; else they
  // are left out.
  void Set(const VecX& q, bool inverted);

  size_t size() const { return volume_.size(); }
  double volume(size_t element) const { return volume_[element]; }  // m^3; 0: left out
  // Gradient of a displacement q - from over this shape.
  Mat3 Gradient(size_t element, const VecX& q, const VecX& from) const;
  // Adds to the gradient of an energy that of `volume` times a density with the derivative p by that gradient.
  void AddGradient(size_t element, const Mat3& p, VecX* gradient) const;
  // The same of its Hessian, c by the gradient's entries (column-major).
  void AddHessian(size_t element, const Mat9& c, BlockMatrix* hessian) const;

 private:
  const ElasticBody* body_;
  std::vector<double> volume_;
  std::vector<std::array<Vec3, 4>> gradient_;  // of the shape functions, 1/m
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_PRESENT_SHAPE_H_
