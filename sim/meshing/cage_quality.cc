#include "sim/meshing/cage_quality.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "sim/mesh/cage_integrals.h"
#include "sim/mesh/embedding.h"
#include "sim/mesh/mass_properties.h"
#include "sim/meshing/cage_gaps.h"
#include "sim/meshing/enclosure.h"
#include "sim/meshing/tet_tools.h"
#include "sim/meshing/triangle_tree.h"

namespace eipc {
namespace {

class Pieces {
 public:
  explicit Pieces(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  int32_t Find(int32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(int32_t a, int32_t b) { parent_[Find(a)] = Find(b); }

 private:
  std::vector<int32_t> parent_;
};

// Pieces of the surface by vertex, and the signed volume of each; cavities have a negative one.
std::map<int32_t, double> VolumesOfPieces(const std::vector<Vec3>& x, const std::vector<Triangle>& triangles) {
  Pieces pieces(x.size());
  for (const Triangle& t : triangles) {
    pieces.Join(t[0], t[1]);
    pieces.Join(t[0], t[2]);
  }
  std::map<int32_t, double> volumes;
  for (const Triangle& t : triangles) volumes[pieces.Find(t[0])] += x[t[0]].dot(x[t[1]].cross(x[t[2]])) / 6;
  return volumes;
}

template <typename Cell>
std::vector<Cell> InRange(const std::vector<Cell>& cells, size_t vertices) {
  std::vector<Cell> out;
  const auto in_range = [vertices](int32_t v) { return v >= 0 && static_cast<size_t>(v) < vertices; };
  std::copy_if(cells.begin(), cells.end(), std::back_inserter(out),
               [&](const Cell& cell) { return std::all_of(cell.begin(), cell.end(), in_range); });
  return out;
}

double MassError(const TetMesh& cage, const CageIntegrals& integrals, const SurfaceMesh& surface) {
  const MassProperties exact = SolidMassProperties(surface.vertices(), surface.triangles(), 1);
  double volume = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (size_t t = 0; t < cage.tets().size(); ++t) {
    for (int a = 0; a < 4; ++a) {
      const Vec3 p = cage.vertices()[cage.tets()[t][a]] - exact.center_of_mass;
      for (int b = 0; b < 4; ++b) {
        const double n = integrals.shape_product[t][4 * a + b];
        volume += n;
        first += n * p;
        second += n * p * (cage.vertices()[cage.tets()[t][b]] - exact.center_of_mass).transpose();
      }
    }
  }
  const Mat3 inertia = second.trace() * Mat3::Identity() - second;
  const double size = std::sqrt(exact.inertia.norm() / exact.mass);
  return std::max({std::abs(volume / exact.mass - 1), (first / exact.mass).norm() / size,
                   (inertia - exact.inertia).norm() / exact.inertia.norm()});
}

}  // namespace

int CountComponents(size_t vertices, const std::vector<Triangle>& triangles) {
  return static_cast<int>(VolumesOfPieces(std::vector<Vec3>(vertices, Vec3::Zero()), triangles).size());
}

int CountComponents(size_t vertices, const std::vector<Tet>& tets) {
  Pieces pieces(vertices);
  for (const Tet& t : tets) {
    for (int k = 1; k < 4; ++k) pieces.Join(t[0], t[k]);
  }
  std::set<int32_t> roots;
  for (const Tet& t : tets) roots.insert(pieces.Find(t[0]));
  return static_cast<int>(roots.size());
}

int CountSolidPieces(const MeshData& solid) {
  const size_t n = solid.vertices.size();
  if (!solid.tets.empty()) return CountComponents(n, InRange(solid.tets, n));
  int pieces = 0;
  for (const auto& [piece, volume] : VolumesOfPieces(solid.vertices, InRange(solid.triangles, n))) pieces += volume > 0;
  return pieces;
}

CageQuality MeasureCage(const TetMesh& cage, const SurfaceMesh& surface) {
  CageQuality out;
  const DihedralRange range = Dihedrals(cage.vertices(), cage.tets());
  out.min_dihedral_deg = range.min_deg;
  out.max_dihedral_deg = range.max_deg;
  const MeshData mesh = {cage.vertices(), cage.tets(), {}};
  const TriangleTree tree(surface.vertices(), surface.triangles());
  out.enclosed = Enclosure(surface, tree).WhyNot(mesh).empty();
  out.components = CountComponents(cage.vertices().size(), cage.BoundaryTriangles());
  out.solid_components = CountSolidPieces({surface.vertices(), {}, surface.triangles()});
  out.volume_ratio = cage.TotalVolume() / surface.SignedVolume();
  const auto integrals = IntegrateSolidOverCage(cage, surface);
  if (integrals.ok()) {
    out.least_solid_share = 1;
    for (size_t t = 0; t < cage.tets().size(); ++t) {
      out.least_solid_share = std::min(out.least_solid_share, integrals->elastic_volume[t] / cage.Volume(static_cast<int>(t)));
    }
    out.mass_properties_error = MassError(cage, *integrals, surface);
  }
  if (cage.tets().size() > 1) {  // an affine cage moves as one
    out.shared_gap_tets = static_cast<int>(SharedGapTets(mesh, surface, tree).size());
  }
  return out;
}

}  // namespace eipc
