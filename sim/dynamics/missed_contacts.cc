#include "sim/dynamics/missed_contacts.h"

#include <algorithm>

#include "sim/geometry/distance.h"

namespace eipc {
namespace {

std::array<int32_t, 4> Ascending(std::array<int32_t, 4> v) {
  std::sort(v.begin(), v.end());
  return v;
}

}  // namespace

void MissedContacts::Remember(const Present& start) {
  known_.clear();
  for (const ContactStencil& s : start.contacts.stencils()) {
    if (s.weight <= 0) continue;
    const StencilPositions x = Gather(s.v, start.x);
    known_.push_back({Ascending(s.v), start.potential.NormalForce(s, x), start.potential.NormalStiffness(s, x)});
  }
  std::sort(known_.begin(), known_.end(), [](const Known& a, const Known& b) { return a.v < b.v; });
}

MissedContacts::Known MissedContacts::Find(const Vertices& v) const {
  const auto found =
      std::lower_bound(known_.begin(), known_.end(), v, [](const Known& a, const Vertices& key) { return a.v < key; });
  return found != known_.end() && found->v == v ? *found : Known{v, 0, 0};
}

// At the end of the direction the gap is what is left of it; where nothing is left, the force of a thousandth stands for one
// without bound.
void MissedContacts::Collect(const Present& reached, const VecX& direction, double fraction, size_t most, MetContacts* met) {
  constexpr double kLeastPart = 1e-3, kTimes = 2;
  missed_.clear();
  const std::vector<ContactStencil>& stencils = reached.contacts.stencils();
  for (size_t i = 0; i < stencils.size(); ++i) {
    const ContactStencil& s = stencils[i];
    if (s.weight <= 0) continue;
    const double closing = reached.map.Closing(s.v, DistanceGradient(s.closest), direction);
    const double unit = ContactPotential::UnitNormalForce(s.gap(), s.dhat);
    if (!(closing > 0) || !(unit > 0)) continue;
    const Known known = Find(Ascending(s.v));
    if (met->Has(known.v)) continue;
    const double scale = reached.potential.NormalForce(s, Gather(s.v, reached.x)) / unit;
    const double left = std::max(s.gap() - (1 - fraction) * closing, kLeastPart * s.gap());
    const double force = scale * ContactPotential::UnitNormalForce(left, s.dhat),
                 modelled = known.force + known.stiffness * closing;
    if (force > kTimes * modelled) missed_.push_back({force - modelled, static_cast<int32_t>(i), known, closing, scale});
  }
  std::sort(missed_.begin(), missed_.end(),
            [](const Missed& a, const Missed& b) { return a.force > b.force || (a.force == b.force && a.stencil < b.stencil); });
  if (missed_.size() > most) missed_.resize(most);
  for (const Missed& m : missed_) {
    const ContactStencil& s = stencils[m.stencil];
    MetContact& contact = met->Add();
    contact.v = m.known.v;
    contact.gap = s.gap() + fraction * m.closing;
    contact.force = m.known.force;
    contact.stiffness = m.known.stiffness;
    contact.dhat = s.dhat;
    contact.scale = m.scale;
    const std::array<Vec3, 4> gradient = DistanceGradient(s.closest);
    contact.gradient.setZero(direction.size());
    for (int k = 0; k < 4; ++k) reached.map.AddVertexGradient(s.v[k], gradient[k], &contact.gradient);
  }
}

}  // namespace eipc
