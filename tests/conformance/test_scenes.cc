#include "tests/conformance/test_scenes.h"

#include <google/protobuf/text_format.h>

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

namespace {

// Blocks of 0.1 m, 0.3 m apart along x; the sheet lies above the last but one.
constexpr char kAssembly[] = R"pb(
  display_name: "assembly"
  gravity_m_s2 { z: 0 }
  bodies {
    name: "link0"
    affine {}
    linear_velocity_m_s { y: 0.1 }
  }
  bodies {
    name: "link1"
    affine { inertia { mass_kg: 1 xx_kg_m2: 0.002 yy_kg_m2: 0.002 zz_kg_m2: 0.003 } }
  }
  bodies {
    name: "link2"
    affine {}
    external_force_n { z: 0.1 }
  }
  bodies {
    name: "finger"
    affine {}
    enclosed_volumes { region: WHOLE law: IDEAL_GAS overpressure_pa: 10 }
    slider {
      axis { x: 1 }
      max_force_n: 5
      stiffness_n_m: 100
      damping_n_s_m: 10
      max_speed_m_s: 1
      mass_kg: 0.1
      motion {
        mode: POSITION
        keys { time_s: 0 value: 0 }
        keys { time_s: 1 value: 0.01 }
      }
    }
    guide_trajectory {
      keyframes {
        time_s: 0
        pose { position_m { x: 0.9 } }
      }
    }
  }
  bodies {
    name: "tool"
    affine {}
    pose_drive {
      stiffness_n_m { x: 100 y: 100 z: 100 }
      damping_n_s_m { x: 1 y: 1 z: 1 }
      max_force_n { x: 10 y: 10 z: 10 }
      stiffness_nm_rad: 1
      damping_nm_s_rad: 0.1
      max_moment_nm: 1
    }
    guide_trajectory {
      interpolation: CUBIC
      keyframes {
        time_s: 0
        pose { position_m { x: 1.2 } }
      }
      keyframes {
        time_s: 1
        pose { position_m { x: 1.2 y: 0.01 } }
      }
    }
  }
  bodies {
    name: "soft"
    embedded { calibration { youngs_scale: 0.5 poissons_ratio: 0.3 } }
    enclosed_volumes { law: NEARLY_INCOMPRESSIBLE compressibility_per_pa: 1e-5 }
    boundary_sets {
      name: "root"
      vertices: [ 0, 1, 2, 3 ]
      slider {
        axis { z: 1 }
        max_force_n: 1
        damping_n_s_m: 1
      }
    }
  }
  bodies {
    name: "anchor"
    kinematic {
      trajectory {
        keyframes {
          time_s: 0
          pose { position_m { x: 1.8 } }
        }
      }
    }
  }
  bodies {
    name: "sheet"
    shell {
      thickness_m: 1e-3
      bending_form: PLATE
      flat_rest_angles: true
      strain_limit: 1.2
      keypoints { name: "corner" vertices: 0 }
      keypoints {
        name: "middle"
        vertices: [ 0, 1, 2 ]
        weights: [ 0.2, 0.3, 0.5 ]
      }
      openings {
        name: "rim"
        vertices: [ 0, 1, 3, 2 ]
      }
      fold_pairs { vertex: 0 onto: 3 }
    }
    boundary_sets {
      name: "edge"
      box {
        min_m { x: -1 y: -0.01 z: -1 }
        max_m { x: 1 y: 0.01 z: 1 }
      }
    }
  }
  contact {
    friction_coefficient: 0.3
    static_friction_coefficient: 0.4
    viscous_friction_s_m: 0.1
    friction_mode: LAGGED
    track_slip: true
  }
  contact_pairs { body_a: "link0" body_b: "tool" friction_coefficient: 0.1 }
  solver {
    integrator: BACKWARD_EULER
    sleep { after_s: 0.5 }
    audit_every_n_steps: 3
  }
  schedule {
    duration_s: 0.1
    dt_s: 0.01
    holding { body: "link0" start_s: 0.02 end_s: 0.1 }
  }
  goals {
    name: "there"
    body: "link0"
    position {
      region {
        min_m { x: -1 y: -1 z: -1 }
        max_m { x: 1 y: 1 z: 1 }
      }
      tolerance_m: 0.1
    }
  }
  goals {
    name: "upright"
    body: "soft"
    relative_to: "tool"
    direction {
      axis { z: 1 }
      direction { z: 1 }
      tolerance_rad: 0.1
    }
    from_s: 0.01
  }
  goals {
    name: "still"
    body: "sheet"
    speed { tolerance_m_s: 1 }
  }
  joints {
    name: "hinge"
    body_a: "link1"
    body_b: "link0"
    hinge {
      point_m { x: 0.2 }
      axis { y: 1 }
      spring_nm_rad: 0.1
      damping_nm_s_rad: 0.01
      lower_rad: -1
      upper_rad: 1
    }
    drive { max_effort: 1 stiffness: 10 damping: 0.1 max_speed: 2 max_acceleration: 10 }
  }
  joints {
    name: "follower"
    body_a: "link2"
    body_b: "link1"
    hinge {
      point_m { x: 0.5 }
      axis { y: 1 }
    }
    mimic { joint: "hinge" multiplier: -1 }
  }
  joints {
    name: "rail"
    body_a: "link0"
    slider {
      point_m {}
      axis { x: 1 }
      lower_m: -0.1
      upper_m: 0.1
      damping_n_s_m: 1
    }
  }
  joints {
    name: "spring"
    body_a: "soft"
    body_b: "tool"
    spring {
      point_m { x: 1.5 }
      point_b_m { x: 1.3 }
      spring_n_m: 10
      damping_n_s_m: 1
    }
  }
  joints {
    name: "ball"
    body_a: "finger"
    body_b: "tool"
    ball { point_m { x: 1.1 } }
    stiffness_n_m: 1e4
    contact: false
  }
  joints {
    name: "glue"
    body_a: "soft"
    body_b: "anchor"
    attachment { vertices: [ 4, 5, 6, 7 ] }
  }
  joints {
    name: "seam"
    body_a: "sheet"
    body_b: "anchor"
    attachment { vertices: [ 2, 3 ] }
  }
  joints {
    name: "stud"
    body_a: "soft"
    body_b: "anchor"
    weld {
      point_m { x: 1.6 y: 0.05 z: 0.05 }
      width_m: 0.02
    }
  }
  robots {
    name: "arm"
    links {
      name: "base"
      bodies { body: "link0" }
    }
    links {
      name: "forearm"
      bodies { body: "link1" }
    }
    joints {
      name: "elbow"
      type: REVOLUTE
      parent: 0
      origin { position_m { x: 0.2 } }
      axis { y: 1 }
      lower: -1
      upper: 1
      scene_joint: "hinge"
    }
  }
)pb";

v1::Mesh Square(double size) {
  v1::Mesh mesh;
  Fill(v1::FLOAT64, 3, std::vector<double>{0, 0, 0, size, 0, 0, 0, size, 0, size, size, 0},
       mesh.mutable_arrays()->mutable_vertices());
  Fill(v1::INT32, 3, std::vector<int32_t>{0, 1, 3, 0, 3, 2}, mesh.mutable_arrays()->mutable_cells());
  return mesh;
}

v1::Mesh* MeshOf(v1::Body* body) {
  switch (body->kind_case()) {
    case v1::Body::kAffine:
      return body->mutable_affine()->mutable_surface();
    case v1::Body::kKinematic:
      return body->mutable_kinematic()->mutable_surface();
    default:
      return body->mutable_embedded()->mutable_surface();
  }
}

}  // namespace

v1::Scene Assembly() {
  v1::Scene scene;
  if (!google::protobuf::TextFormat::ParseFromString(kAssembly, &scene)) return {};
  for (int b = 0; b < scene.bodies_size(); ++b) {
    v1::Body& body = *scene.mutable_bodies(b);
    *body.mutable_material() = SoftBody("").material();
    if (body.has_affine()) body.mutable_material()->set_youngs_modulus_pa(1e7);
    if (body.affine().has_inertia()) body.mutable_material()->clear_density_kg_m3();
    if (body.has_shell()) {
      *body.mutable_shell()->mutable_mesh() = Square(0.1);
      Place(1.8, 0, 0.2, &body);
      continue;
    }
    *MeshOf(&body) = BlockMesh(1, 0.1);
    Place(0.3 * b, 0, 0, &body);
    if (body.has_embedded()) *body.mutable_embedded()->mutable_cage_mesh() = BlockMesh(1, 0.1);
  }
  return scene;
}

}  // namespace eipc::testing
