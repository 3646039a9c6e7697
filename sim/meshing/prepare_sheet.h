#ifndef EIPC_SIM_MESHING_PREPARE_SHEET_H_
#define EIPC_SIM_MESHING_PREPARE_SHEET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/meshing/mesh_findings.h"
#include "sim/meshing/progress.h"
#include "sim/meshing/sheet_bending.h"
#include "sim/meshing/surface_distance.h"

namespace eipc {

struct SheetOptions {
  double thickness_m = 0;  // of the sheet, > 0; its edges are to be longer
  double edge_m = 0;       // length of the edges that are made; 0: one that gives about `vertices` vertices
  int vertices = 1000;
  bool keep_triangles = false;  // welds, orients and checks only
};

// A sheet fit for a shell body: at most two triangles at an edge, which wind alike, seams welded, no triangle meets another
// (exact).
struct PreparedSheet {
  MeshFindings findings;
  SurfaceMesh surface;
  std::vector<std::string> steps;  // in words, in order
  bool remeshed = false;
  double edge_m = 0;  // asked or chosen; 0: triangles were kept
  double shortest_edge_m = 0, mean_edge_m = 0, longest_edge_m = 0;
  double least_angle_deg = 0, mean_least_angle_deg = 0;  // smallest angles of triangles: the least and their mean; equilateral: 60
  double area_m2 = 0;
  int components = 0;
  int borders = 0;  // closed loops of edges with one triangle
  SheetBending bending;
  SurfaceDistance distance;  // first: the result; second: the input
  std::string note;          // what falls short, in words; empty when nothing does

  // "kept", "cleaned" or "remeshed".
  const char* method() const { return remeshed ? "remeshed" : steps.empty() ? "kept" : "cleaned"; }
};

// Welds the seams of a mesh file's triangles (metres), orients them, and remeshes them to nearly equilateral triangles; nothing is
// closed. Corners of borders and edges that turn by more than 40 degrees stay. INVALID_ARGUMENT says why there is no such sheet,
// UNIMPLEMENTED without the GPL parts unless triangles are kept, CANCELLED.
absl::StatusOr<PreparedSheet> PrepareSheet(const MeshData& file, const SheetOptions& options, const MeshingProgress& progress);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_PREPARE_SHEET_H_
