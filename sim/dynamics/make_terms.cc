#include "sim/dynamics/make_terms.h"

#include <variant>

#include "sim/energy/bending.h"
#include "sim/energy/condensed.h"
#include "sim/energy/corotated.h"
#include "sim/energy/isotropic_elasticity.h"
#include "sim/energy/mass_damping.h"
#include "sim/energy/membrane.h"
#include "sim/energy/strain_damping.h"
#include "sim/energy/strain_energy_damping.h"

namespace eipc {
namespace {

// alpha M over the damped bodies; nodes of different bodies do not share mass.
ScalarSparse DampedMass(const Model& model) {
  std::vector<double> alpha(model.node_count, 0.0);
  for (const ElasticBody& body : model.elastic) {
    for (const Tet& tet : body.nodes) {
      for (int32_t node : tet) alpha[node] = body.rayleigh_alpha_per_s;
    }
  }
  for (const ShellBody& shell : model.shells) {
    for (const Triangle& triangle : shell.triangles) {
      for (const int32_t node : triangle) alpha[node] = shell.rayleigh_alpha_per_s;
    }
  }
  ScalarSparse damped = model.mass;
  for (int32_t i = 0; i < damped.n; ++i) {
    for (int32_t k = damped.row_start[i]; k < damped.row_start[i + 1]; ++k) damped.values[k] *= alpha[i];
  }
  return damped;
}

std::unique_ptr<EnergyTerm> MakeElasticTerm(const ElasticBody* body, ThreadPool* pool) {
  if (body->condensed != nullptr) return std::make_unique<CondensedTerm>(body, pool);
  if (std::holds_alternative<LinearCorotated>(body->material)) return std::make_unique<CorotatedTerm>(body, pool);
  if (IsotropicTerm::Serves(*body)) return std::make_unique<IsotropicTerm>(body, pool);
  return std::make_unique<ElasticityTerm>(body, pool);
}

std::unique_ptr<EnergyTerm> MakeStrainDamping(const ElasticBody* body) {
  if (body->strain_damping_law == StrainDampingLaw::kStrainEnergy) return std::make_unique<StrainEnergyDampingTerm>(body);
  return std::make_unique<StrainDampingTerm>(body);
}

void AddBodyTerms(const Model& model, const SurfaceMap* map, ThreadPool* pool, ModelTerms* made) {
  ModelTerms& terms = *made;
  auto inertia = std::make_unique<InertiaTerm>(&model.mass, model.NodeAccelerations());
  terms.inertia = inertia.get();
  terms.all.push_back(std::move(inertia));
  bool damped = false;
  for (const ElasticBody& body : model.elastic) {
    terms.all.push_back(MakeElasticTerm(&body, pool));
    terms.elastic.push_back(terms.all.back().get());
    damped = damped || body.rayleigh_alpha_per_s > 0;
    if (body.strain_damping_s > 0) terms.all.push_back(MakeStrainDamping(&body));
  }
  for (const ShellBody& shell : model.shells) {
    terms.all.push_back(std::make_unique<MembraneTerm>(&shell, pool));
    terms.shells.push_back({terms.all.back().get(), shell.body});
    if (!shell.hinges.empty()) {
      terms.all.push_back(std::make_unique<BendingTerm>(&shell, pool));
      terms.shells.push_back({terms.all.back().get(), shell.body});
    }
    damped = damped || shell.rayleigh_alpha_per_s > 0;
  }
  for (const FilledRegion& region : model.filled_regions) {
    auto term = std::make_unique<VolumeTerm>(&region, map);
    terms.volumes.push_back(term.get());
    terms.all.push_back(std::move(term));
  }
  if (damped) terms.all.push_back(std::make_unique<MassDampingTerm>(DampedMass(model)));
}

void AddDriveTerms(const Model& model, ModelTerms* made) {
  ModelTerms& terms = *made;
  for (const Slider& slider : model.sliders) {
    const BoundarySet& set = model.boundary_sets[slider.boundary_set];
    auto guide = std::make_unique<GuideTerm>(&set.nodes, &set.local_positions, slider.axis, slider.guide_stiffness_n_m);
    auto drive = std::make_unique<DriveTerm>(guide.get());
    terms.guides.push_back(guide.get());
    terms.drives.push_back(drive.get());
    terms.all.push_back(std::move(guide));
    terms.all.push_back(std::move(drive));
  }
  for (const PoseDrive& drive : model.pose_drives) {
    auto term = std::make_unique<PoseDriveTerm>(&drive.frame, drive.gains);
    terms.pose_drives.push_back(term.get());
    terms.all.push_back(std::move(term));
  }
}

void AddJointTerms(const Model& model, ModelTerms* made) {
  ModelTerms& terms = *made;
  for (const Joint& joint : model.joints) {
    JointTerms& made = terms.joints.emplace_back();
    if (!joint.ties.empty()) {
      auto ties = std::make_unique<TieTerm>(&joint.ties);
      made.ties = ties.get();
      terms.all.push_back(std::move(ties));
    }
    if (joint.CoordinateActs()) {
      auto coordinate = std::make_unique<CoordinateTerm>(&*joint.coordinate, joint.law, joint.guide_stiffness);
      made.coordinate = coordinate.get();
      terms.all.push_back(std::move(coordinate));
    }
  }
  for (size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (!joint.mimic) continue;
    auto mimic = std::make_unique<MimicTerm>(&*joint.coordinate, &*model.joints[joint.mimic->joint].coordinate, joint.mimic->law);
    terms.joints[j].mimic = mimic.get();
    terms.joints[joint.mimic->joint].followers.push_back(mimic.get());
    terms.all.push_back(std::move(mimic));
  }
}

}  // namespace

ModelTerms MakeTerms(const Model& model, const SurfaceMap* map, ThreadPool* pool) {
  ModelTerms terms;
  AddBodyTerms(model, map, pool, &terms);
  AddDriveTerms(model, &terms);
  AddJointTerms(model, &terms);
  return terms;
}

}  // namespace eipc
