#include "server/convert/joint_convert.h"

#include "absl/strings/str_cat.h"
#include "eipc/v1/observation.pb.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/geometry_convert.h"
#include "server/convert/slider_convert.h"

namespace eipc {
namespace {

// Reads what the message of a kind has into the specification.
class KindReader {
 public:
  KindReader(JointSpec* spec, std::string path, Problems* problems) : spec_(spec), path_(std::move(path)), problems_(problems) {}

  void Read(const v1::WeldJoint& weld) {
    spec_->kind = JointKind::kWeld;
    ReadPoint(weld, "weld");
    spec_->width_m = weld.width_m();
  }
  void Read(const v1::BallJoint& ball) {
    spec_->kind = JointKind::kBall;
    ReadPoint(ball, "ball");
  }
  void Read(const v1::HingeJoint& hinge) {
    spec_->kind = JointKind::kHinge;
    ReadAxis(hinge, "hinge");
    JointLaw& law = spec_->law;
    law.stiffness = hinge.spring_nm_rad();
    law.rest = hinge.rest_rad();
    law.damping = hinge.damping_nm_s_rad();
    if (hinge.has_lower_rad()) law.lower = hinge.lower_rad();
    if (hinge.has_upper_rad()) law.upper = hinge.upper_rad();
    law.stop_stiffness = hinge.stop_stiffness_nm_rad();
  }
  void Read(const v1::SliderJoint& slider) {
    spec_->kind = JointKind::kSlider;
    ReadAxis(slider, "slider");
    JointLaw& law = spec_->law;
    law.stiffness = slider.spring_n_m();
    law.rest = slider.rest_m();
    law.damping = slider.damping_n_s_m();
    if (slider.has_lower_m()) law.lower = slider.lower_m();
    if (slider.has_upper_m()) law.upper = slider.upper_m();
    law.stop_stiffness = slider.stop_stiffness_n_m();
  }
  void Read(const v1::SpringJoint& spring) {
    spec_->kind = JointKind::kSpring;
    ReadPoint(spring, "spring");
    if (!spring.has_point_b_m()) problems_->Add(path_ + ".spring.point_b_m", "must be given");
    spec_->point_b = Vec3FromProto(spring.point_b_m());
    spec_->law.stiffness = spring.spring_n_m();
    spec_->law.damping = spring.damping_n_s_m();
    if (spring.has_rest_length_m()) spec_->rest_length_m = spring.rest_length_m();
  }
  void Read(const v1::Attachment& attachment) {
    spec_->kind = JointKind::kAttachment;
    spec_->vertices.assign(attachment.vertices().begin(), attachment.vertices().end());
    if (attachment.has_box()) {
      spec_->box = {Vec3FromProto(attachment.box().min_m()), Vec3FromProto(attachment.box().max_m())};
    }
  }

 private:
  template <typename Message>
  void ReadPoint(const Message& message, const char* kind) {
    if (!message.has_point_m()) problems_->Add(absl::StrCat(path_, ".", kind, ".point_m"), "must be given");
    spec_->point = Vec3FromProto(message.point_m());
  }
  template <typename Message>
  void ReadAxis(const Message& message, const char* kind) {
    ReadPoint(message, kind);
    spec_->axis = Vec3FromProto(message.axis());
    spec_->width_m = message.width_m();
  }

  JointSpec* spec_;
  std::string path_;
  Problems* problems_;
};

v1::JointReading::Contact ContactToProto(JointContact contact) {
  switch (contact) {
    case JointContact::kOn:
      return v1::JointReading::ON;
    case JointContact::kOffByScene:
      return v1::JointReading::OFF_BY_SCENE;
    case JointContact::kOffByOverlap:
      return v1::JointReading::OFF_BY_OVERLAP;
  }
  return v1::JointReading::CONTACT_UNSPECIFIED;
}

}  // namespace

JointSpec JointFromProto(const v1::Joint& message, const std::string& path, Problems* problems) {
  JointSpec spec;
  spec.name = message.name();
  spec.body_a = message.body_a();
  spec.body_b = message.body_b();
  spec.stiffness_n_m = message.stiffness_n_m();
  spec.drift_m = message.drift_m();
  if (message.has_contact()) spec.contact = message.contact();
  if (message.has_drive()) spec.drive = JointDriveFromProto(message.drive());
  if (message.has_mimic()) {
    const v1::MimicJoint& mimic = message.mimic();
    const double multiplier = mimic.multiplier() == 0 ? 1 : mimic.multiplier();
    spec.mimic = {mimic.joint(), {multiplier, mimic.offset(), mimic.stiffness()}};
  }
  KindReader reader(&spec, path, problems);
  switch (message.kind_case()) {
    case v1::Joint::kWeld:
      reader.Read(message.weld());
      break;
    case v1::Joint::kBall:
      reader.Read(message.ball());
      break;
    case v1::Joint::kHinge:
      reader.Read(message.hinge());
      break;
    case v1::Joint::kSlider:
      reader.Read(message.slider());
      break;
    case v1::Joint::kSpring:
      reader.Read(message.spring());
      break;
    case v1::Joint::kAttachment:
      reader.Read(message.attachment());
      break;
    case v1::Joint::KIND_NOT_SET:
      break;
  }
  return spec;
}

void JointReadingsToProto(const Model& model, const State& state, v1::Observation* out) {
  for (size_t j = 0; j < model.joints.size(); ++j) {
    const State::Joint& joint = state.joints[j];
    v1::JointReading& seen = *out->add_joints();
    seen.set_name(model.joints[j].name);
    seen.set_position(joint.position);
    seen.set_velocity(joint.velocity);
    seen.set_effort(joint.effort);
    seen.set_drift_m(joint.drift_m);
    Vec3ToProto(joint.force_n, seen.mutable_force_n());
    Vec3ToProto(joint.moment_nm, seen.mutable_moment_nm());
    Vec3ToProto(model.joints[j].point.At(state.q), seen.mutable_point_m());
    seen.set_contact(ContactToProto(model.joints[j].contact));
    if (model.joints[j].drive) DriveReadingToProto(joint.drive, seen.mutable_drive());
  }
}

}  // namespace eipc
