#include "sim/dynamics/exact_check.h"

#include <atomic>

#include "sim/audit/pair_check.h"

namespace eipc {

ExactCheck::ExactCheck(const Model* model, SurfaceState* surface, ThreadPool* pool)
    : model_(model), surface_(surface), pool_(pool), vertices_(model->surface.vertex_count) {}

void ExactCheck::BeginStep() {
  rejections_ = 0;
  every_point_ = false;
}

bool ExactCheck::RefusesSolution() {
  if (every_point_ || model_->solver.unsafe_disable_exact_check) return false;
  every_point_ = TrianglesMeet();
  return Count(every_point_);
}

bool ExactCheck::TrianglesMeet() {
  const BroadPhase& broad_phase = surface_->broad_phase();
  vertices_.Clear();
  broad_phase.NearTriangles(surface_->travel(), &near_, &vertices_);
  for (const auto& [a, b] : broad_phase.neighbour_pairs()) {
    vertices_.AddAll(model_->surface.triangles[a]);
    vertices_.AddAll(model_->surface.triangles[b]);
  }
  surface_->Place(vertices_.list());
  return AnyMeets(near_) || AnyMeets(broad_phase.neighbour_pairs());
}

bool ExactCheck::AnyMeets(const std::vector<std::pair<int32_t, int32_t>>& pairs) {
  constexpr int64_t kGrain = 32;
  std::atomic<bool> any = false;
  pool_->ParallelFor(static_cast<int64_t>(pairs.size()), kGrain, [&](int64_t begin, int64_t end) {
    if (any.load(std::memory_order_relaxed)) return;
    const absl::Span<const std::pair<int32_t, int32_t>> part = absl::MakeConstSpan(pairs).subspan(begin, end - begin);
    if (AnyPairMeets(surface_->x(), model_->surface.triangles, part)) any.store(true, std::memory_order_relaxed);
  });
  return any.load(std::memory_order_relaxed);
}

}  // namespace eipc
