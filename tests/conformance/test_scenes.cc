#include "tests/conformance/test_scenes.h"

#include <cstring>

namespace eipc::testing {
namespace {

template <typename T>
void Fill(v1::DataType dtype, int width, const std::vector<T>& values, v1::NdArray* out) {
  out->set_dtype(dtype);
  out->add_shape(static_cast<int64_t>(values.size()) / width);
  out->add_shape(width);
  out->set_data(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
}

// The six tetrahedra of a cube along its diagonal from corner 0 to corner 7 (Kuhn); corner bits are x, y, z. Positively oriented.
constexpr int kKuhn[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

v1::Body SoftBody(const std::string& name) {
  v1::Body body;
  body.set_name(name);
  body.mutable_material()->set_density_kg_m3(1000);
  body.mutable_material()->set_youngs_modulus_pa(1e5);
  body.mutable_material()->set_poissons_ratio(0.4);
  return body;
}

void Place(double x, double y, double z, v1::Body* body) {
  body->mutable_pose()->mutable_position_m()->set_x(x);
  body->mutable_pose()->mutable_position_m()->set_y(y);
  body->mutable_pose()->mutable_position_m()->set_z(z);
}

}  // namespace

v1::Mesh BlockMesh(int cells, double size) {
  const int side = cells + 1;
  std::vector<double> vertices;
  for (int z = 0; z < side; ++z) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        for (const int i : {x, y, z}) vertices.push_back(size * i / cells);
      }
    }
  }
  std::vector<int32_t> tets;
  for (int z = 0; z < cells; ++z) {
    for (int y = 0; y < cells; ++y) {
      for (int x = 0; x < cells; ++x) {
        for (const auto& tet : kKuhn) {
          for (const int corner : tet) {
            tets.push_back(x + (corner & 1) + side * (y + ((corner >> 1) & 1) + side * (z + (corner >> 2))));
          }
        }
      }
    }
  }
  v1::Mesh mesh;
  Fill(v1::FLOAT64, 3, vertices, mesh.mutable_arrays()->mutable_vertices());
  Fill(v1::INT32, 4, tets, mesh.mutable_arrays()->mutable_cells());
  return mesh;
}

void SetVertex(v1::Mesh* mesh, int index, int component, double value) {
  std::string& data = *mesh->mutable_arrays()->mutable_vertices()->mutable_data();
  std::memcpy(data.data() + (3 * index + component) * sizeof(double), &value, sizeof(double));
}

v1::Scene FallingBlock(int cells, double height) {
  v1::Scene scene;
  scene.set_display_name("falling block");
  v1::Body& body = *scene.add_bodies() = SoftBody("block");
  *body.mutable_full_space()->mutable_mesh() = BlockMesh(cells, 0.1);
  Place(0, 0, height, &body);
  return scene;
}

v1::Scene BlockOnTable() {
  v1::Scene scene = FallingBlock(1, 0.002);
  scene.set_display_name("block on a table");
  v1::Body& table = *scene.add_bodies();
  table.set_name("table");
  *table.mutable_static_body()->mutable_surface() = BlockMesh(1, 1);
  Place(-0.5, -0.5, -1, &table);
  scene.mutable_contact()->set_friction_coefficient(0.5);
  return scene;
}

v1::Scene DrivenBlock() {
  v1::Scene scene = FallingBlock(1, 0);
  scene.set_display_name("driven block");
  scene.mutable_gravity_m_s2();
  v1::BoundarySet& top = *scene.mutable_bodies(0)->add_boundary_sets();
  top.set_name("top");
  for (const int vertex : {4, 5, 6, 7}) top.add_vertices(vertex);
  v1::Body& plate = *scene.add_bodies();
  plate.set_name("plate");
  *plate.mutable_kinematic()->mutable_surface() = BlockMesh(1, 0.1);
  Place(1, 0, 0, &plate);
  return scene;
}

}  // namespace eipc::testing
