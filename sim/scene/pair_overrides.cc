#include "sim/scene/pair_overrides.h"

#include <algorithm>
#include <string>

namespace eipc {

PairOverrides::PairOverrides(const SceneSpec& spec) {
  // Of a name that two bodies have, which CheckScene refuses, the first counts.
  std::map<std::string, int32_t> bodies;
  for (size_t b = 0; b < spec.bodies.size(); ++b) bodies.emplace(spec.bodies[b].name, static_cast<int32_t>(b));
  for (const ContactPairSpec& pair : spec.contact_pairs) {
    const auto a = bodies.find(pair.body_a), b = bodies.find(pair.body_b);
    if (a == bodies.end() || b == bodies.end()) continue;
    of_[{std::min(a->second, b->second), std::max(a->second, b->second)}].push_back(&pair);
  }
}

const std::vector<const ContactPairSpec*>& PairOverrides::Of(int32_t a, int32_t b) const {
  static const std::vector<const ContactPairSpec*> kNone;
  const auto found = of_.find({std::min(a, b), std::max(a, b)});
  return found == of_.end() ? kNone : found->second;
}

}  // namespace eipc
