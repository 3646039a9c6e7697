#ifndef EIPC_SIM_SCENE_PAIR_OVERRIDES_H_
#define EIPC_SIM_SCENE_PAIR_OVERRIDES_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/scene/scene_spec.h"

namespace eipc {

// The contact pairs of a scene by the bodies that they name, so that those of two bodies are found without comparing all others.
// Points into the scene, which must outlive it.
class PairOverrides {
 public:
  explicit PairOverrides(const SceneSpec& spec);

  // What the scene says of these two bodies (indices in the scene, in any order), in its order.
  const std::vector<const ContactPairSpec*>& Of(int32_t a, int32_t b) const;

 private:
  std::map<std::pair<int32_t, int32_t>, std::vector<const ContactPairSpec*>> of_;  // the smaller index first
};

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_PAIR_OVERRIDES_H_
