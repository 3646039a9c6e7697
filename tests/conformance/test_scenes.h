#ifndef EIPC_TESTS_CONFORMANCE_TEST_SCENES_H_
#define EIPC_TESTS_CONFORMANCE_TEST_SCENES_H_

// Small scenes with inline meshes: they need no files.

#include <array>
#include <string>
#include <vector>

#include "eipc/v1/scene.pb.h"

namespace eipc::testing {

// Vertices (m) and tetrahedra of a block [0, size]^3 of cells^3 cubes, six tetrahedra each.
v1::Mesh BlockMesh(int cells, double size);

// Replaces `component` of vertex `index` of an inline mesh.
void SetVertex(v1::Mesh* mesh, int index, int component, double value);

// One soft body "block" of 1000 kg/m^3, its corner `height` m above the origin.
v1::Scene FallingBlock(int cells = 1, double height = 1);

// As many substeps of the falling block as no test outlasts (1e5 of them may take a second). Servers must allow them.
inline constexpr int kSubstepsForHours = 1'000'000'000;

// The same 2 mm above a static "table" whose top is the plane z = 0, with friction.
v1::Scene BlockOnTable();

// A soft block whose top (boundary set "top") can be driven, and a kinematic "plate" beside it, both in free space without gravity.
v1::Scene DrivenBlock();

// Every kind of body, joint, drive and goal in one small scene without gravity: three affine links on driven and mimic joints, a
// slider with a filling, a drawn tool, a block in a cage, a sheet with keypoints, attached and sprung; a robot of two links.
v1::Scene Assembly();

}  // namespace eipc::testing

#endif  // EIPC_TESTS_CONFORMANCE_TEST_SCENES_H_
