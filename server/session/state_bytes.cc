#include "server/session/state_bytes.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/session/ids.h"
#include "sim/base/byte_archive.h"
#include "sim/base/status_macros.h"
#include "sim/dynamics/materials.h"
#include "sim/dynamics/state_codec.h"
#include "sim/dynamics/state_fields.h"

namespace eipc {
namespace {

constexpr uint64_t kMark = 0x5441545343504945;  // "EIPCSTAT"

absl::Status Corrupt(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("state: ", what)); }

absl::Status Foreign(absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat("SNAPSHOT_FOREIGN: the state cannot be taken over: ", what));
}

void AddEntry(ByteWriter* out, absl::string_view name, const ByteWriter& value) {
  out->Text(name);
  out->Text(value.bytes());
}

template <typename T>
void AddNumber(ByteWriter* out, absl::string_view name, const T& number) {
  ByteWriter value;
  value.Value(number);
  AddEntry(out, name, value);
}

void AddBody(ByteWriter* out, const State& state, const Body& body) {
  ByteWriter value;
  value.Text(body.name);
  const VecX q = state.q.segment(3 * body.nodes.begin, 3 * body.nodes.size());
  const VecX v = state.v.segment(3 * body.nodes.begin, 3 * body.nodes.size());
  value.Vector(q);
  value.Vector(v);
  AddEntry(out, "body", value);
}

void AddDrive(ByteWriter* out, const State::Drive& drive, const Model& model, const BoundarySet& set) {
  ByteWriter value;
  value.Text(model.bodies[set.body].name);
  value.Text(set.name);
  VisitPose(value, drive.commanded);
  value.Value(drive.by_client);
  value.Value(drive.error_m);
  AddEntry(out, "drive", value);
}

void AddSlider(ByteWriter* out, const State::Slider& slider, const Model& model, const BoundarySet& set) {
  ByteWriter value;
  value.Text(model.bodies[set.body].name);
  value.Text(set.name);
  VisitEnum(value, slider.mode);
  value.Value(slider.value);
  value.Value(slider.by_client);
  AddEntry(out, "slider", value);
}

// Angles count whole turns, which positions alone do not determine.
void AddJoint(ByteWriter* out, const State::Joint& joint, const Joint& of) {
  ByteWriter value;
  value.Text(of.name);
  value.Value(joint.position);
  AddEntry(out, "joint", value);
}

void AddJointDrive(ByteWriter* out, const State::Joint& joint, const Joint& of) {
  ByteWriter value;
  value.Text(of.name);
  VisitEnum(value, joint.drive.mode);
  for (const double number : {joint.goal, joint.drive.value, joint.drive.rate}) value.Value(number);
  value.Value(joint.drive.by_client);
  AddEntry(out, "joint_drive", value);
}

void AddMaterial(ByteWriter* out, const State::BodyMaterial& material, const Body& of) {
  ByteWriter value;
  value.Text(of.name);
  for (const MaterialNumber& number : kMaterialNumbers) value.Value(material.*number.value);
  AddEntry(out, "material", value);
}

// Reads the entries into a state that begins as the scene's.
class Reading {
 public:
  explicit Reading(const Model& model) : model_(model), state_(InitialState(model)) {}

  absl::Status Entry(absl::string_view name, absl::string_view value) {
    ByteReader reader(value);
    if (name == "step") {
      reader.Value(state_.step);
    } else if (name == "time_s") {
      reader.Value(state_.time_s);
    } else if (name == "barrier_stiffness") {
      reader.Value(state_.barrier_stiffness);
    } else if (name == "body") {
      return TakeBody(&reader);
    } else if (name == "drive") {
      return TakeDrive(&reader);
    } else if (name == "slider") {
      return TakeSlider(&reader);
    } else if (name == "joint") {
      return TakeJoint(&reader);
    } else if (name == "joint_drive") {
      return TakeJointDrive(&reader);
    } else if (name == "material") {
      return TakeMaterial(&reader);
    } else if (name == "rest") {
      rest_ = std::string(value);
      return absl::OkStatus();
    } else {
      return absl::OkStatus();
    }
    return reader.done() ? absl::OkStatus() : Corrupt(absl::StrCat("its ", name, " is not one number"));
  }

  absl::StatusOr<State> Finish(StateBits bits) {
    if (bodies_ != model_.bodies.size()) {
      return Foreign(absl::StrCat("it has ", bodies_, " bodies, and the scene ", model_.bodies.size()));
    }
    if (bits == StateBits::kAll) {
      State rest;
      ByteReader reader(rest_);
      VisitState(reader, rest);
      if (!reader.done()) return Corrupt("its bytes are cut short, or there are too many");
      rest.q = std::move(state_.q);
      rest.v = std::move(state_.v);
      state_ = std::move(rest);
    }
    // Whether it is a state of this model is for the codec to say.
    return DecodeState(EncodeState(state_), model_);
  }

 private:
  absl::Status TakeBody(ByteReader* reader) {
    absl::string_view name;
    VecX q, v;
    reader->Text(name);
    reader->Vector(q);
    reader->Vector(v);
    if (!reader->ok()) return Corrupt("its bytes are cut short");
    if (bodies_ == model_.bodies.size()) return Foreign("it has more bodies than the scene");
    const Body& body = model_.bodies[bodies_++];
    const Eigen::Index size = 3 * body.nodes.size();
    if (name != body.name || q.size() != size || v.size() != size) {
      return Foreign(absl::StrCat("its body '", Printable(name), "' has ", q.size(), " unknowns where this build's scene has '",
                                  body.name, "' with ", size));
    }
    state_.q.segment(3 * body.nodes.begin, size) = q;
    state_.v.segment(3 * body.nodes.begin, size) = v;
    return absl::OkStatus();
  }

  absl::Status TakeDrive(ByteReader* reader) {
    State::Drive drive;
    EIPC_ASSIGN_OR_RETURN(const int set, TakeOfSet(reader, [&] {
                            VisitPose(*reader, drive.commanded);
                            reader->Value(drive.by_client);
                            reader->Value(drive.error_m);
                          }));
    state_.drives[set] = drive;
    return absl::OkStatus();
  }

  // What the drive did in the step before is not taken over: the next step says it again.
  absl::Status TakeSlider(ByteReader* reader) {
    State::Slider slider;
    EIPC_ASSIGN_OR_RETURN(const int set, TakeOfSet(reader, [&] {
                            VisitEnum(*reader, slider.mode);
                            reader->Value(slider.value);
                            reader->Value(slider.by_client);
                          }));
    const int index = model_.FindSlider(set);
    if (index < 0) {
      const BoundarySet& at = model_.boundary_sets[set];
      return Foreign(absl::StrCat("the scene has no slider at '", at.name, "' of '", model_.bodies[at.body].name, "'"));
    }
    state_.sliders[index] = slider;
    return absl::OkStatus();
  }

  // Its loads are not taken over: the next step says them again.
  absl::Status TakeJoint(ByteReader* reader) {
    absl::string_view name;
    double position = 0;
    reader->Text(name);
    reader->Value(position);
    if (!reader->ok()) return Corrupt("its bytes are cut short");
    const int joint = model_.FindJoint(std::string(name));
    if (joint < 0) return Foreign(absl::StrCat("the scene has no joint '", Printable(name), "'"));
    state_.joints[joint].position = position;
    return absl::OkStatus();
  }

  absl::Status TakeJointDrive(ByteReader* reader) {
    absl::string_view name;
    State::Joint read;
    reader->Text(name);
    VisitEnum(*reader, read.drive.mode);
    for (double* number : {&read.goal, &read.drive.value, &read.drive.rate}) reader->Value(*number);
    reader->Value(read.drive.by_client);
    if (!reader->ok()) return Corrupt("its bytes are cut short");
    const int joint = model_.FindJoint(std::string(name));
    if (joint < 0 || !model_.joints[joint].drive) {
      return Foreign(absl::StrCat("the scene has no driven joint '", Printable(name), "'"));
    }
    state_.joints[joint].goal = read.goal;
    state_.joints[joint].drive = read.drive;
    return absl::OkStatus();
  }

  absl::Status TakeMaterial(ByteReader* reader) {
    absl::string_view name;
    State::BodyMaterial material;
    reader->Text(name);
    for (const MaterialNumber& number : kMaterialNumbers) {
      if (number.of_scene == nullptr && reader->done()) break;  // of a build that did not know it: the scene's
      reader->Value(material.*number.value);
    }
    if (!reader->ok()) return Corrupt("its bytes are cut short");
    if (state_.materials.size() == model_.bodies.size()) return Corrupt("it has more materials than the scene has bodies");
    material.body = model_.FindBody(std::string(name));
    if (material.body < 0) return Foreign(absl::StrCat("the scene has no body '", Printable(name), "'"));
    // Of a build in which bodies with affine.inertia had no density: the scene's.
    if (material.density_kg_m3 == 0) material.density_kg_m3 = MaterialOfScene(model_, material.body).density_kg_m3;
    state_.materials.push_back(material);
    return absl::OkStatus();
  }

  // What AddDrive and AddSlider begin with, and then what `take` reads; returns the boundary set that it is of.
  template <typename Take>
  absl::StatusOr<int> TakeOfSet(ByteReader* reader, const Take& take) const {
    absl::string_view body, name;
    reader->Text(body);
    reader->Text(name);
    take();
    if (!reader->ok()) return Corrupt("its bytes are cut short");
    const int set = model_.FindBoundarySet(std::string(body), std::string(name));
    if (set >= 0) return set;
    return Foreign(absl::StrCat("the scene has no boundary set '", Printable(name), "' of '", Printable(body), "'"));
  }

  const Model& model_;
  State state_;
  std::string rest_;
  size_t bodies_ = 0;
};

}  // namespace

std::string PackState(const State& state, const Model& model) {
  ByteWriter out;
  out.Value(kMark);
  AddNumber(&out, "step", state.step);
  AddNumber(&out, "time_s", state.time_s);
  AddNumber(&out, "barrier_stiffness", state.barrier_stiffness);
  for (const Body& body : model.bodies) AddBody(&out, state, body);
  for (size_t i = 0; i < state.drives.size(); ++i) AddDrive(&out, state.drives[i], model, model.boundary_sets[i]);
  for (size_t i = 0; i < state.sliders.size(); ++i) {
    AddSlider(&out, state.sliders[i], model, model.boundary_sets[model.sliders[i].boundary_set]);
  }
  for (size_t j = 0; j < state.joints.size(); ++j) AddJoint(&out, state.joints[j], model.joints[j]);
  for (size_t j = 0; j < state.joints.size(); ++j) {
    if (model.joints[j].drive) AddJointDrive(&out, state.joints[j], model.joints[j]);
  }
  for (const State::BodyMaterial& material : state.materials) AddMaterial(&out, material, model.bodies[material.body]);
  // Positions and velocities are there already.
  State rest = state;
  rest.q.resize(0);
  rest.v.resize(0);
  out.Text("rest");
  out.Text(EncodeState(rest));
  return out.Take();
}

absl::StatusOr<State> UnpackState(absl::string_view bytes, const Model& model, StateBits bits) {
  uint64_t mark = 0;
  ByteReader reader(bytes);
  reader.Value(mark);
  if (!reader.ok() || mark != kMark) {
    if (bits == StateBits::kAll) return DecodeState(bytes, model);
    return Foreign("it is of version 0.1, which only the build that wrote it understands");
  }
  Reading reading(model);
  while (!reader.done()) {
    absl::string_view name, value;
    reader.Text(name);
    reader.Text(value);
    if (!reader.ok()) return Corrupt("its bytes are cut short");
    EIPC_RETURN_IF_ERROR(reading.Entry(name, value));
  }
  return reading.Finish(bits);
}

}  // namespace eipc
