#ifndef EIPC_SIM_DYNAMICS_STATE_FIELDS_H_
#define EIPC_SIM_DYNAMICS_STATE_FIELDS_H_

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/dynamics/state.h"

namespace eipc {

// A pose is its seven numbers.
template <typename Archive, typename P>
void VisitPose(Archive& archive, P& pose) {
  for (int k = 0; k < 3; ++k) archive.Value(pose.position[k]);
  for (int k = 0; k < 4; ++k) archive.Value(pose.rotation.coeffs()[k]);
}

// An enumerator is its number.
template <typename Archive, typename E>
void VisitEnum(Archive& archive, E& value) {
  int32_t number = static_cast<int32_t>(value);
  archive.Value(number);
  if constexpr (!std::is_const_v<E>) value = static_cast<E>(number);
}

template <typename Archive, typename C>
void VisitContact(Archive& archive, C& contact) {
  auto& [kind, body_a, body_b, vertices, distance_m, normal_force, friction_force] = contact;
  VisitEnum(archive, kind);
  archive.Value(body_a);
  archive.Value(body_b);
  for (auto& v : vertices) archive.Value(v);
  archive.Value(distance_m);
  for (auto* forces : {&normal_force, &friction_force}) {
    for (auto& force : *forces) {
      for (int k = 0; k < 3; ++k) archive.Value(force[k]);
    }
  }
}

template <typename Archive, typename Contacts>
void VisitContacts(Archive& archive, Contacts& contacts) {
  archive.Each(contacts, [&archive](auto& contact) {
    auto& [force, potential_m2] = contact;
    VisitContact(archive, force);
    archive.Value(potential_m2);
  });
}

// Shared contacts are never written to: loading makes new ones.
template <typename Archive, typename Held>
void VisitHeld(Archive& archive, Held& held) {
  if constexpr (std::is_const_v<Held>) {
    VisitContacts(archive, *held);
  } else {
    std::vector<State::HeldContact> contacts = *held;
    VisitContacts(archive, contacts);
    held = std::make_shared<const std::vector<State::HeldContact>>(std::move(contacts));
  }
}

// An archive that leaves out fields which came later where they are empty: the digest, so that those of states without them stay.
template <typename Archive>
inline constexpr bool kLeavesOutEmpty = false;

template <typename Archive, typename Slider>
void VisitSlider(Archive& archive, Slider& slider) {
  auto& [mode, value, rate, by_client, position_m, velocity_m_s, effort_n, saturated, blocked] = slider;
  VisitEnum(archive, mode);
  for (auto* number : {&value, &rate, &position_m, &velocity_m_s, &effort_n}) archive.Value(*number);
  for (auto* flag : {&by_client, &saturated, &blocked}) archive.Value(*flag);
}

template <typename Archive, typename Sliders>
void VisitSliders(Archive& archive, Sliders& sliders) {
  if (kLeavesOutEmpty<Archive> && sliders.empty()) return;
  archive.Each(sliders, [&archive](auto& slider) { VisitSlider(archive, slider); });
}

template <typename Archive, typename Slides>
void VisitSlides(Archive& archive, Slides& slides) {
  if (kLeavesOutEmpty<Archive> && slides.empty()) return;
  archive.Each(slides, [&archive](auto& slide) {
    auto& [body, other, begun_s, displacement_m, path_m] = slide;
    archive.Value(body);
    archive.Value(other);
    archive.Value(begun_s);
    for (int k = 0; k < 3; ++k) archive.Value(displacement_m[k]);
    archive.Value(path_m);
  });
}

template <typename Archive, typename Joints>
void VisitJoints(Archive& archive, Joints& joints) {
  if (kLeavesOutEmpty<Archive> && joints.empty()) return;
  archive.Each(joints, [&archive](auto& joint) {
    auto& [position, velocity, effort, drift_m, force_n, moment_nm, goal, drive] = joint;
    for (auto* number : {&position, &velocity, &effort, &drift_m}) archive.Value(*number);
    for (auto* vector : {&force_n, &moment_nm}) {
      for (int k = 0; k < 3; ++k) archive.Value((*vector)[k]);
    }
    archive.Value(goal);
    VisitSlider(archive, drive);
  });
}

template <typename Archive, typename Drives>
void VisitPoseDrives(Archive& archive, Drives& drives) {
  if (kLeavesOutEmpty<Archive> && drives.empty()) return;
  archive.Each(drives, [&archive](auto& drive) {
    auto& [force_n, moment_nm, saturated, blocked] = drive;
    for (auto* vector : {&force_n, &moment_nm}) {
      for (int k = 0; k < 3; ++k) archive.Value((*vector)[k]);
    }
    for (auto* flag : {&saturated, &blocked}) archive.Value(*flag);
  });
}

template <typename Archive, typename Materials>
void VisitMaterials(Archive& archive, Materials& materials) {
  if (kLeavesOutEmpty<Archive> && materials.empty()) return;
  archive.Each(materials, [&archive](auto& material) {
    auto& [body, youngs_modulus_pa, poissons_ratio, density_kg_m3, friction_factor] = material;
    archive.Value(body);
    for (auto* number : {&youngs_modulus_pa, &poissons_ratio, &density_kg_m3, &friction_factor}) archive.Value(*number);
  });
}

template <typename Archive, typename Stability>
void VisitStability(Archive& archive, Stability& stability) {
  if (kLeavesOutEmpty<Archive> && !stability) return;
  archive.Optional(stability, [&archive](auto& found) {
    auto& [dt_s, angle2] = found;
    archive.Value(dt_s);
    archive.Value(angle2);
  });
}

// Visits every field of a State, in a fixed order: what is digested, stored and loaded is the same by construction. The structured
// binding does not compile when State has a field that is not named here.
template <typename Archive, typename S>
void VisitState(Archive& archive, S& state) {
  auto& [step, time_s, q, v, barrier_stiffness, drives, history, stability, contact_pairs, sleep, sliders, slides, joints,
         pose_drives, materials] = state;
  archive.Value(step);
  archive.Value(time_s);
  archive.Vector(q);
  archive.Vector(v);
  archive.Value(barrier_stiffness);
  archive.Each(drives, [&archive](auto& drive) {
    auto& [commanded, by_client, error_m] = drive;
    VisitPose(archive, commanded);
    archive.Value(by_client);
    archive.Value(error_m);
  });
  archive.Each(contact_pairs, [&archive](auto& pair) {
    auto& [smaller, larger] = pair;
    archive.Value(smaller);
    archive.Value(larger);
  });
  archive.Optional(history, [&archive](auto& past) {
    auto& [dt_s, past_q, past_v, halvings] = past;
    archive.Value(dt_s);
    archive.Vector(past_q);
    archive.Vector(past_v);
    archive.Value(halvings);
  });
  archive.Optional(sleep, [&archive](auto& sleeping) {
    auto& [bodies, baseline_force, held] = sleeping;
    archive.Each(bodies, [&archive](auto& body) {
      auto& [calm_s, asleep] = body;
      archive.Value(calm_s);
      archive.Value(asleep);
    });
    archive.Vector(baseline_force);
    VisitHeld(archive, held);
  });
  VisitSliders(archive, sliders);
  VisitSlides(archive, slides);
  VisitJoints(archive, joints);
  VisitPoseDrives(archive, pose_drives);
  VisitMaterials(archive, materials);
  VisitStability(archive, stability);
}

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STATE_FIELDS_H_
