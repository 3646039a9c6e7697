#include <CGAL/Polygon_mesh_processing/border.h>
#include <CGAL/Polygon_mesh_processing/orient_polygon_soup.h>
#include <CGAL/Polygon_mesh_processing/orientation.h>
#include <CGAL/Polygon_mesh_processing/polygon_soup_to_polygon_mesh.h>
#include <CGAL/Polygon_mesh_processing/stitch_borders.h>
#include <CGAL/Polygon_mesh_processing/triangulate_hole.h>

#include <cmath>
#include <exception>
#include <new>

#include "absl/strings/str_cat.h"
#include "sim/meshing/repair_steps.h"
#include "sim/meshing/surface_mesh_convert.h"

namespace eipc {
namespace {

namespace PMP = CGAL::Polygon_mesh_processing;

double LoopLength(const cgal::Mesh& mesh, cgal::Mesh::Halfedge_index start) {
  double length = 0;
  for (const auto h : CGAL::halfedges_around_face(start, mesh)) {
    length += std::sqrt(CGAL::squared_distance(mesh.point(mesh.source(h)), mesh.point(mesh.target(h))));
  }
  return length;
}

}  // namespace

absl::StatusOr<SoupRepair> RepairSoup(const MeshData& data, double max_hole_m) {
  try {
    std::vector<cgal::Kernel::Point_3> points = cgal::Points(data);
    std::vector<std::vector<std::size_t>> polygons = cgal::Polygons(data);
    PMP::orient_polygon_soup(points, polygons);
    cgal::Mesh mesh;
    PMP::polygon_soup_to_polygon_mesh(points, polygons, mesh);
    PMP::stitch_borders(mesh);
    SoupRepair result;
    std::vector<cgal::Mesh::Halfedge_index> loops;
    PMP::extract_boundary_cycles(mesh, std::back_inserter(loops));
    for (const auto h : loops) {
      if (LoopLength(mesh, h) > max_hole_m) {
        ++result.holes_left;
        continue;
      }
      std::vector<cgal::Mesh::Face_index> patch;
      PMP::triangulate_hole(mesh, h, std::back_inserter(patch));
      ++(patch.empty() ? result.holes_left : result.holes_filled);
    }
    if (CGAL::is_closed(mesh)) PMP::orient_to_bound_a_volume(mesh);
    result.mesh = cgal::ToMeshData(mesh);
    return result;
  } catch (const std::bad_alloc&) {
    throw;  // no fault of the mesh
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("repairing the soup failed: ", error.what()));
  }
}

}  // namespace eipc
