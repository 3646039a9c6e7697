#include "sim/meshing/mesh_implicit.h"

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Labeled_mesh_domain_3.h>
#include <CGAL/Mesh_complex_3_in_triangulation_3.h>
#include <CGAL/Mesh_criteria_3.h>
#include <CGAL/Mesh_triangulation_3.h>
#include <CGAL/Random.h>
#include <CGAL/exude_mesh_3.h>
#include <CGAL/make_mesh_3.h>
#include <CGAL/perturb_mesh_3.h>

#include <cmath>
#include <exception>
#include <map>
#include <new>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/meshing/tet_tools.h"

namespace eipc {
namespace {

namespace params = CGAL::parameters;
using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Domain = CGAL::Labeled_mesh_domain_3<Kernel>;
using Triangulation = CGAL::Mesh_triangulation_3<Domain>::type;
using Complex = CGAL::Mesh_complex_3_in_triangulation_3<Triangulation>;
using Criteria = CGAL::Mesh_criteria_3<Triangulation>;

absl::StatusOr<TetMesh> ToTetMesh(const Complex& complex) {
  std::map<Triangulation::Vertex_handle, int32_t> index;
  std::vector<Vec3> vertices;
  std::vector<Tet> tets;
  for (auto cell = complex.cells_in_complex_begin(); cell != complex.cells_in_complex_end(); ++cell) {
    Tet tet;
    for (int k = 0; k < 4; ++k) {
      const auto [entry, is_new] = index.try_emplace(cell->vertex(k), static_cast<int32_t>(vertices.size()));
      if (is_new) {
        const auto& p = cell->vertex(k)->point();
        vertices.emplace_back(p.x(), p.y(), p.z());
      }
      tet[k] = entry->second;
    }
    tets.push_back(tet);
  }
  if (tets.empty()) return absl::InvalidArgumentError("implicit meshing: nothing found inside the function's zero set");
  SortMesh(&vertices, &tets);
  return TetMesh::Create(std::move(vertices), std::move(tets));
}

// The mesher searches for the surface along segments from the centre without a limit: there must be one.
absl::Status CheckBall(const std::function<double(const Vec3&)>& value, const Vec3& center, double radius) {
  if (!center.allFinite() || !(radius > 0) || !std::isfinite(radius))
    return absl::InvalidArgumentError("implicit meshing: bad ball");
  if (!(value(center) < 0)) return absl::InvalidArgumentError("implicit meshing: the ball's center is not inside");
  for (int d = 0; d < 27; ++d) {
    const Vec3 direction = Eigen::Vector3i(d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1).cast<double>();
    if (d != 13 && !(value(center + radius * direction.normalized()) > 0)) {
      return absl::InvalidArgumentError("implicit meshing: the solid reaches beyond the ball");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TetMesh> MeshImplicit(const std::function<double(const Vec3&)>& value, const Vec3& center, double radius,
                                     const ImplicitCriteria& criteria) {
  EIPC_RETURN_IF_ERROR(CheckBall(value, center, radius));
  try {
    CGAL::get_default_random() = CGAL::Random(0);  // of this thread: the result must not depend on what ran before
    CGAL::Random domain_random(0);
    const auto function = [&value](const Kernel::Point_3& p) { return value(Vec3(p.x(), p.y(), p.z())); };
    const Kernel::Sphere_3 ball(Kernel::Point_3(center.x(), center.y(), center.z()), radius * radius);
    const Domain domain = Domain::create_implicit_mesh_domain(
        function, ball, params::relative_error_bound = criteria.relative_error, params::p_rng = &domain_random);
    const Criteria sizes(params::facet_angle = criteria.facet_angle_deg, params::facet_size = criteria.facet_size_m,
                         params::facet_distance = criteria.facet_distance_m,
                         params::cell_radius_edge_ratio = criteria.cell_radius_edge_ratio,
                         params::cell_size = criteria.cell_size_m);
    // No time limits: they would make the result depend on the machine's load.
    Complex complex = CGAL::make_mesh_3<Complex>(domain, sizes, params::manifold(), params::no_perturb(), params::no_exude());
    if (criteria.remove_slivers) CGAL::perturb_mesh_3(complex, domain);
    CGAL::exude_mesh_3(complex);
    return ToTetMesh(complex);
  } catch (const std::bad_alloc&) {
    throw;  // no fault of the mesh
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("implicit meshing failed: ", error.what()));
  }
}

}  // namespace eipc
