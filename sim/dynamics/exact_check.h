#ifndef EIPC_SIM_DYNAMICS_EXACT_CHECK_H_
#define EIPC_SIM_DYNAMICS_EXACT_CHECK_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/surface_state.h"

namespace eipc {

// The exact check of points before they are accepted: triangles that the broad phase has near each other, by predicates that share
// no code with collision detection. It checks the solution of every stage, and every point of a step once it has refused one.
class ExactCheck {
 public:
  // All outlive this.
  ExactCheck(const Model* model, SurfaceState* surface, ThreadPool* pool);

  void BeginStep();
  // For the solution of a stage: true when surfaces intersect there. Then every later point of the step is checked before it is
  // accepted, and the stage must be solved again. False from then on.
  bool RefusesSolution();
  // Whether the current point must not be accepted, after RefusesSolution said so.
  bool RefusesPoint() { return every_point_ && Count(TrianglesMeet()); }
  bool every_point() const { return every_point_; }
  // Points refused since BeginStep; 0 unless collision detection made a mistake.
  int rejections() const { return rejections_; }

 private:
  bool Count(bool refused) {
    rejections_ += refused;
    return refused;
  }
  bool TrianglesMeet();
  bool AnyMeets(const std::vector<std::pair<int32_t, int32_t>>& pairs);

  const Model* model_;
  SurfaceState* surface_;
  ThreadPool* pool_;
  bool every_point_ = false;
  int rejections_ = 0;
  std::vector<std::pair<int32_t, int32_t>> near_;
  VertexList vertices_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_EXACT_CHECK_H_
