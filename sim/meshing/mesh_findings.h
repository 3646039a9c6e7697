#ifndef EIPC_SIM_MESHING_MESH_FINDINGS_H_
#define EIPC_SIM_MESHING_MESH_FINDINGS_H_

#include <cstdint>
#include <string>

#include "sim/mesh/mesh_data.h"

namespace eipc {

// What is wrong with a mesh as read, in metres. Counts of triangles and edges are of the triangles, or of the tets' boundary;
// vertices that are exactly equal count as one.
struct MeshFindings {
  int64_t vertices = 0;  // as read
  int64_t welded_vertices = 0;
  int64_t triangles = 0;
  int64_t tets = 0;
  int64_t components = 0;            // connected by edges
  int64_t open_edges = 0;            // of one triangle
  int64_t holes = 0;                 // loops of open edges
  int64_t nonmanifold_edges = 0;     // of three or more triangles
  int64_t misoriented_edges = 0;     // of two triangles that run through it in the same direction
  int64_t degenerate_triangles = 0;  // collapsed to a line (exact)
  int64_t duplicate_triangles = 0;
  int64_t self_intersections = 0;  // pairs of triangles (exact)
  int64_t inverted_tets = 0;
  int64_t unused_vertices = 0;
  Vec3 low = Vec3::Zero(), high = Vec3::Zero();  // bounding box
  double volume = 0;                             // m^3, signed; 0 when open
  std::string scale_note;                        // empty: a size to expect in a robot's hand

  bool closed() const { return triangles > 0 && open_edges == 0 && nonmanifold_edges == 0 && misoriented_edges == 0; }
};

MeshFindings FindProblems(const MeshData& mesh);

// The triangles of a mesh: its own, or the boundary of its tets (inverted ones turned), with the vertices they use.
MeshData TrianglesOf(const MeshData& mesh);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_MESH_FINDINGS_H_
