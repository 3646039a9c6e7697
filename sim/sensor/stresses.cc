#include "sim/sensor/stresses.h"

#include "sim/energy/stress.h"

namespace eipc {

std::vector<double> BodyStresses(const Model& model, const State& state, int body) {
  const IndexRange& nodes = model.bodies[body].nodes;
  for (const ElasticBody& elastic : model.elastic) {
    if (elastic.nodes.empty()) continue;
    const int32_t node = elastic.nodes[0][0];
    if (node >= nodes.begin && node < nodes.end) return VonMisesStresses(elastic, state.q);
  }
  return {};
}

}  // namespace eipc
