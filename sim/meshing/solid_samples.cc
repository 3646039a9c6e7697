#include "sim/meshing/solid_samples.h"

#include <Eigen/LU>
#include <algorithm>
#include <limits>

#include "sim/base/status_macros.h"
#include "sim/meshing/triangle_tree.h"

namespace eipc {

Located::Located(const TetMesh* of) : mesh(of) {
  for (const Tet& t : mesh->tets()) {
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = mesh->vertices()[t[k + 1]] - mesh->vertices()[t[0]];
    inverse.push_back(edges.inverse());
  }
}

Eigen::Vector4d Located::Weights(size_t tet, const Vec3& p) const {
  const Vec3 w = inverse[tet] * (p - mesh->vertices()[mesh->tets()[tet][0]]);
  return {1 - w.sum(), w[0], w[1], w[2]};
}

size_t Located::Find(const Vec3& p) const {
  size_t best = 0;
  double depth = -std::numeric_limits<double>::infinity();
  for (size_t t = 0; t < inverse.size(); ++t) {
    const double least = Weights(t, p).minCoeff();
    if (least > depth) depth = least, best = t;
    if (depth >= 0) break;
  }
  return best;
}

std::array<Vec3, 4> Located::Gradients(size_t tet) const {
  std::array<Vec3, 4> g;
  for (int k = 0; k < 3; ++k) g[k + 1] = inverse[tet].row(k);
  g[0] = -(g[1] + g[2] + g[3]);
  return g;
}

absl::StatusOr<std::vector<SolidSample>> SamplesOf(const FineModel& fine, const SurfaceMesh& surface, Interrupt* interrupt) {
  const TriangleTree tree(surface.vertices(), surface.triangles());
  std::vector<SolidSample> samples;
  for (size_t t = 0; t < fine.mesh.tets().size(); ++t) {
    EIPC_RETURN_IF_ERROR(Poll(interrupt));
    const Tet& tet = fine.mesh.tets()[t];
    const auto point = [&](const Eigen::Vector4d& w) -> Vec3 {
      Vec3 p = Vec3::Zero();
      for (int a = 0; a < 4; ++a) p += w[a] * fine.mesh.vertices()[tet[a]];
      return p;
    };
    const bool whole = fine.volume[t] > 0.999 * fine.mesh.Volume(static_cast<int>(t));
    const size_t first = samples.size();
    if (fine.by_own_tets) {
      for (int a = 0; a < 4; ++a) samples.push_back({fine.mesh.vertices()[tet[a]], t, 0});
    } else if (whole) {
      for (int a = 0; a < 4; ++a) {
        Eigen::Vector4d w = Eigen::Vector4d::Constant(0.1381966011250105);
        w[a] = 0.5854101966249685;
        samples.push_back({point(w), t, 0});
      }
    } else {
      constexpr int kGrid = 5;
      for (int i = 0; i < kGrid; ++i) {
        for (int j = 0; i + j < kGrid; ++j) {
          for (int k = 0; i + j + k < kGrid; ++k) {
            Eigen::Vector4d w(i + 0.25, j + 0.25, k + 0.25, 0);
            w /= kGrid - 0.25;
            w[3] = 1 - w[0] - w[1] - w[2];
            if (tree.Contains(point(w))) samples.push_back({point(w), t, 0});
          }
        }
      }
    }
    const double share = fine.volume[t] / static_cast<double>(std::max<size_t>(samples.size() - first, 1));
    for (size_t s = first; s < samples.size(); ++s) samples[s].weight = share;
  }
  return samples;
}

}  // namespace eipc
