#ifndef EIPC_MODELS_SHEETS_H_
#define EIPC_MODELS_SHEETS_H_

// Cloth of the scenes, and what it is laid over. Only +, -, *, / and sqrt: see shapes.h.

#include "sim/mesh/mesh_data.h"

namespace eipc {

// A square of this side around the origin in the plane z = 0, normals up, of nearly equilateral triangles: `cells` edges along x in
// rows along y, every other one shifted by half an edge.
MeshData Towel(double side, int cells);

// A pouch of two sheets that are sewn at both sides and at the bottom: 0.14 m wide (x) and 0.13 m high (z, from 0), 12 x 12 cells,
// bulged by 0.01 m (y) at its mouth, normals outwards. Vertices: 13 x 13 of the front (y >= 0) and 11 x 12 of the back (y < 0), by
// rows.
MeshData Pouch();

// An open tube of 32 sides about z from 0 to 0.14 m: 0.0335 m in radius, flared to 0.042 m at z = 0, normals outwards, of triangles
// in rows, every other one turned by half an edge. Its first 32 vertices are the flared hem.
MeshData Sleeve();

// Two half balls of 0.035 m joined by a cylinder along z, from z = 0 to 0.12 m between their centres; 32 sides.
MeshData Capsule();

// Of 0.02 m radius around the origin; 32 sides.
MeshData SmallBall();

// A closed cylinder of radius 0.02 m along y, from -0.25 to 0.25 m; 32 sides.
MeshData Bar();

// A closed box.
MeshData Box(const Vec3& low, const Vec3& high);

}  // namespace eipc

#endif  // EIPC_MODELS_SHEETS_H_
