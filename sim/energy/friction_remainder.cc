#include "sim/energy/friction_remainder.h"

#include "sim/energy/implicit_friction.h"

namespace eipc {

void FrictionRemainder::Prepare(const ContactSet& contacts, const std::vector<Vec3>& x, const FrictionTerm& friction,
                                const ContactPotential& potential) {
  active_.clear();
  for (const ContactStencil& c : contacts.stencils()) {
    // As FrictionTerm::Lag: a stencil of negative weight has no friction of its own.
    if (pairs_->DynamicCoefficient(c.body_a, c.body_b) > 0 && c.weight > 0) active_.push_back(&c);
  }
  stencils_.resize(active_.size());
  pool_->ParallelFor(static_cast<int64_t>(active_.size()), 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const ContactStencil& c = *active_[i];
      const StencilPositions now = Gather(c.v, x), start = Gather(c.v, friction.x_tilde());
      const FrictionLaw law = pairs_->Law(c.body_a, c.body_b);
      const FrictionCurve curve = friction.Curve(law);
      const FrictionPoint point{c, now, start, law.dynamic_coefficient, potential, curve};
      stencils_[i].v = c.v;
      stencils_[i].rest = LaggedFrictionJacobian(point) - ImplicitFrictionJacobian(point);
    }
  });
}

void FrictionRemainder::AddTimes(const VecX& dq, VecX* product) const {
  for (const Stencil& s : stencils_) map_->AddGradient(s.v, s.rest * map_->Directions(s.v, dq), product);
}

void FrictionRemainder::Blocks(std::vector<NodeBlock>* blocks) const {
  blocks->clear();
  for (const Stencil& s : stencils_) {
    const SurfaceMap::Nodes nodes = map_->Gather(s.v);
    for (int a = 0; a < nodes.count; ++a) {
      for (int b = 0; b < nodes.count; ++b) {
        Mat3 block = Mat3::Zero();
        for (int i = 0; i < 4; ++i) {
          for (int j = 0; j < 4; ++j) block += nodes.weight[a][i] * nodes.weight[b][j] * s.rest.block<3, 3>(3 * i, 3 * j);
        }
        blocks->push_back({nodes.node[a], nodes.node[b], block});
      }
    }
  }
}

}  // namespace eipc
