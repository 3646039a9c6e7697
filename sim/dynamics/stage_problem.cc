#include "sim/dynamics/stage_problem.h"

#include <algorithm>
#include <limits>

namespace eipc {

StageProblem::StageProblem(const Model* model, ThreadPool* pool, PhaseSeconds* seconds, Interrupt* interrupt)
    : model_(model),
      seconds_(seconds),
      interrupt_(interrupt),
      surface_(model, !model->filled_regions.empty(), interrupt, pool),
      terms_(MakeTerms(*model, &surface_.map(), pool)),
      potential_(model, &surface_, &terms_, pool, seconds, interrupt),
      guard_(model, &surface_, &terms_, pool, interrupt),
      check_(model, &surface_, pool),
      turning_(*model),
      groups_(model, &surface_.map(), &potential_.contacts()) {}

void StageProblem::SetAsleep(const std::vector<uint8_t>& asleep) {
  if (asleep == asleep_) return;
  asleep_ = asleep;
  surface_.SetAsleep(asleep);
  potential_.SetAsleep(asleep);
}

void StageProblem::BeginStep(const VecX& q_start, const VecX& q_guess, double barrier_stiffness, const NodePairs& contact_pairs) {
  ScopedPhase timer(seconds_, Phase::kContactDetection);
  may_stiffen_ = model_->contact.stiffness == 0;
  drive_blocked_ = false;
  v_start_ = nullptr;
  contacts_current_ = false;
  check_.BeginStep();
  const double distance = surface_.Displacement(q_start, q_guess);
  guard_.BeginStep(distance);
  potential_.BeginStep(barrier_stiffness, contact_pairs);
  surface_.BeginStep(q_start, q_guess, distance);
}

void StageProblem::BeginStage(const VecX& q_start, const VecX& q_tilde, const VecX& v_tilde, double gamma_h, double force_share) {
  pinch_.Begin();
  potential_.BeginStage(q_start, q_tilde, v_tilde, gamma_h, force_share);
}

void StageProblem::CommandSliders(const std::vector<SliderStage>& sliders) {
  for (size_t i = 0; i < sliders.size(); ++i) {
    terms_.guides[i]->Place(sliders[i].guide);
    terms_.drives[i]->Command(sliders[i].law, sliders[i].guide_before);
  }
}

void StageProblem::CommandPoses(const std::vector<PoseStage>& poses) {
  for (size_t i = 0; i < poses.size(); ++i) terms_.pose_drives[i]->Command(poses[i].commanded, poses[i].before);
}

void StageProblem::CommandJoints(const std::vector<DriveLaw>& laws) {
  for (size_t j = 0; j < laws.size(); ++j) {
    if (model_->joints[j].drive) terms_.joints[j].coordinate->Command(laws[j]);
  }
}

std::vector<double> StageProblem::DriveForces(const VecX& q) const {
  std::vector<double> forces;
  for (size_t i = 0; i < terms_.drives.size(); ++i) forces.push_back(terms_.drives[i]->force().Force(terms_.guides[i]->Slide(q)));
  return forces;
}

void StageProblem::BeginJoints(const State& from) {
  for (size_t j = 0; j < terms_.joints.size(); ++j) {
    const JointTerms& terms = terms_.joints[j];
    if (terms.coordinate != nullptr) terms.coordinate->SetReference(from.joints[j].position);
    if (terms.mimic == nullptr) continue;
    terms.mimic->SetReferences(from.joints[j].position, from.joints[model_->joints[j].mimic->joint].position);
  }
}

std::vector<PoseDriveLoad> StageProblem::PoseDriveLoads(const VecX& q) const {
  std::vector<PoseDriveLoad> loads;
  for (const PoseDriveTerm* drive : terms_.pose_drives) loads.push_back(drive->LoadAt(q));
  return loads;
}

std::vector<JointLoad> StageProblem::JointLoads(const VecX& q) const {
  std::vector<JointLoad> loads;
  for (size_t j = 0; j < terms_.joints.size(); ++j) loads.push_back(LoadOf(*model_, model_->joints[j], terms_.joints[j], q));
  return loads;
}

void StageProblem::SetPoint(const VecX& q) {
  ScopedPhase timer(seconds_, Phase::kContactDetection);
  if (contacts_current_ && q == surface_.q()) return;
  surface_.SetPoint(q);
  potential_.UpdateContacts();
  contacts_current_ = !Raised(interrupt_);
}

double StageProblem::Energy() { return Intersects() ? std::numeric_limits<double>::infinity() : potential_.Energy(); }

bool StageProblem::Intersects() {
  if (!check_.every_point()) return false;
  ScopedPhase timer(seconds_, Phase::kExactCheck);
  return check_.RefusesPoint();
}

bool StageProblem::RefusesSolution() {
  ScopedPhase timer(seconds_, Phase::kExactCheck);
  return check_.RefusesSolution();
}

void StageProblem::FindFreeVelocity(VecX* v) const {
  const StageContext& stage = potential_.stage();
  *v = v_start_ != nullptr ? *v_start_ : stage.v_tilde;
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (groups_.IsFixed(n)) {
      v->segment<3>(3 * n) = (surface_.q().segment<3>(3 * n) - stage.q_tilde.segment<3>(3 * n)) / stage.gamma_h;
    } else {
      v->segment<3>(3 * n) += stage.force_share * stage.gamma_h * model_->gravity;
    }
  }
}

bool StageProblem::NeedsStifferBarrier() {
  if (!may_stiffen_ || !pinch_.Pinched(LeastGap())) return false;
  scratch_.here = surface_.q();
  FindFreeVelocity(&scratch_.v);
  groups_.Find(scratch_.v);
  groups_.MeasureEnergies(ContactPotential(barrier_stiffness()), surface_.x(), potential_.stage().q_start, scratch_.v);
  double other = 0, pressed = 0;
  for (const ContactGroup& group : groups_.groups()) {
    if (group.least_gap >= kSmallGap) continue;
    other += group.kinetic_energy + group.stored_energy;
    if (drive_blocked_) pressed += group.barrier_energy;
  }
  const StageContext& stage = potential_.stage();
  SetPoint(stage.q_start);
  // Their inertia is not asked for, nor what drives do.
  const VecX& v = v_start_ != nullptr ? *v_start_ : stage.v_tilde;
  const std::vector<ContactGroup>& start = MeasureContactGroups(v, v, stage.gamma_h, {});
  stiffer_ = StiffnessForImpact(*model_, barrier_stiffness(), other, pressed, start, stage.gamma_h);
  may_stiffen_ = stiffer_ > barrier_stiffness();
  SetPoint(scratch_.here);
  return may_stiffen_;
}

const std::vector<ContactGroup>& StageProblem::MeasureContactGroups(const VecX& v, const VecX& v_before, double dt_s,
                                                                    const std::vector<uint8_t>& stopped) {
  groups_.Find(v);
  groups_.MarkJammed(stopped);
  groups_.MeasureEnergies(ContactPotential(barrier_stiffness()), surface_.x(), surface_.q(), v);
  scratch_.gradient.setZero(v.size());
  BarrierGradient(&scratch_.gradient);
  scratch_.v = (v - v_before) / dt_s;
  groups_.MeasureForces(scratch_.gradient, scratch_.v);
  return groups_.groups();
}

void StageProblem::TightContacts(double relative_gap, std::vector<TightContact>* out) const {
  out->clear();
  for (const auto* stencils : {&contacts().stencils(), &contacts().prescribed_pairs()}) {
    for (const ContactStencil& s : *stencils) {
      if (s.gap() < relative_gap * s.dhat) out->push_back({s.gap() / s.dhat, s.v, DistanceGradient(s.closest)});
    }
  }
}

bool StageProblem::GoStraight(const VecX& q) {
  constexpr int kMaxParts = 64;      // of a motion longer than collision detection examines at once
  constexpr double kBlocked = 1e-3;  // of what is left
  for (int part = 0; part < kMaxParts && !Raised(interrupt_); ++part) {
    const VecX rest = q - surface_.q();
    const double limit = MaxStep(rest);
    if (limit <= kBlocked) return false;
    SetPoint(limit >= 1 ? q : VecX(surface_.q() + limit * rest));
    if (limit >= 1) return true;
  }
  return false;
}

void StageProblem::FindContactsMet(const VecX& direction, const VecX& reached, double fraction, size_t most, MetContacts* met) {
  const size_t first = met->size();
  missed_.Remember(ContactsHere());
  scratch_.here = surface_.q();
  SetPoint(reached);
  missed_.Collect(ContactsHere(), direction, fraction, most, met);
  SetPoint(scratch_.here);
  for (size_t i = first; i < met->size(); ++i) {
    for (int32_t n = 0; n < model_->node_count; ++n) {
      if (groups_.IsFixed(n)) (*met)[i].gradient.segment<3>(3 * n).setZero();
    }
  }
}

bool StageProblem::InFriction(int32_t node) const {
  for (const FrictionStencil& f : friction().stencils()) {
    for (const int32_t v : f.v) {
      const EmbeddingRow& row = model_->embedding[v];
      if (std::find(row.nodes.begin(), row.nodes.begin() + row.count, node) != row.nodes.begin() + row.count) return true;
    }
  }
  return false;
}

}  // namespace eipc
