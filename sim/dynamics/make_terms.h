#ifndef EIPC_SIM_DYNAMICS_MAKE_TERMS_H_
#define EIPC_SIM_DYNAMICS_MAKE_TERMS_H_

#include <memory>
#include <utility>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/dynamics/joints.h"
#include "sim/dynamics/model.h"
#include "sim/energy/inertia.h"
#include "sim/energy/pose_drive.h"
#include "sim/energy/slider.h"
#include "sim/energy/term.h"
#include "sim/energy/volume.h"

namespace eipc {

struct ModelTerms {
  std::vector<std::unique_ptr<EnergyTerm>> all;
  // Pointers into `all`: inertia, the terms of elastic bodies, those among them that begin a stage with exact Hessians, the terms
  // of filled regions, of sheets, and those of sliders, pose drives and joints, in the order of those of the model.
  InertiaTerm* inertia = nullptr;
  std::vector<const EnergyTerm*> elastic;
  std::vector<VolumeTerm*> volumes;
  std::vector<std::pair<const EnergyTerm*, int32_t>> shells;  // of sheets, with their bodies
  std::vector<GuideTerm*> guides;
  std::vector<DriveTerm*> drives;
  std::vector<PoseDriveTerm*> pose_drives;
  std::vector<JointTerms> joints;
};

// The one place where terms of a model are registered. Barrier and friction, which need the contact set, are members of
// IncrementalPotential.
ModelTerms MakeTerms(const Model& model, const SurfaceMap* map, ThreadPool* pool);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_MAKE_TERMS_H_
