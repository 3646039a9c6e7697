#ifndef EIPC_SIM_SCENE_SHELL_SPEC_H_
#define EIPC_SIM_SCENE_SHELL_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/energy/shell_body.h"
#include "sim/material/material.h"
#include "sim/mesh/mesh_data.h"

namespace eipc {

// What an author says of a shell beside its mesh and material (ShellBody of a scene message). Nothing or 0: see there.
struct ShellSpec {
  struct Keypoint {
    std::string name;
    std::vector<int32_t> vertices;
    std::vector<double> weights;
  };
  struct Opening {
    std::string name;
    std::vector<int32_t> vertices;
  };
  std::optional<MeshData> rest_mesh;
  double thickness_m = 0;
  std::optional<double> contact_thickness_m;
  double mass_per_area_kg_m2 = 0;
  double membrane_youngs_n_m = 0;
  std::optional<double> membrane_mu_n_m, membrane_lambda_n_m;
  std::optional<double> bending_stiffness_nm;
  BendingForm bending_form = BendingForm::kPlate;
  bool flat_rest_angles = false;
  double strain_limit = 0;
  double strain_limit_stiffness_n_m = 0;
  std::string fabric;
  std::vector<Keypoint> keypoints;
  std::vector<Opening> openings;
  std::vector<std::pair<int32_t, int32_t>> fold_pairs;
};

// Measured constants of a fabric, taken as one homogeneous sheet.
struct Fabric {
  absl::string_view name;    // in scenes
  absl::string_view what;    // for the documentation
  absl::string_view source;  // where the numbers are from
  double density_kg_m3;
  double thickness_m;
  double youngs_modulus_pa;
  double membrane_share;  // of youngs_modulus_pa, in the plane: less, because a mesh wrinkles less finely than the fabric does
  double poissons_ratio;
  double strain_limit;
};
absl::Span<const Fabric> Fabrics();
// nullptr: none has this name.
const Fabric* FindFabric(absl::string_view name);

// The numbers that a shell is made of, from what was given, the material and the fabric.
struct ShellConstants {
  double thickness_m = 0;
  double contact_thickness_m = 0;
  double mass_per_area_kg_m2 = 0;
  Membrane membrane;
  double youngs_n_m = 0;  // E t in the plane
  double poissons_ratio = 0;
  double bending_stiffness_nm = 0;
};
ShellConstants ConstantsOf(const ShellSpec& shell, const MaterialSpec& material);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_SHELL_SPEC_H_
