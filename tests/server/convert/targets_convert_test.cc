#include "server/convert/targets_convert.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <limits>

#include "eipc/v1/service.pb.h"
#include "server/convert/step_convert.h"
#include "sim/scene/body_kinds.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A pad with two boundary sets, a kinematic plate, a static floor: as compiled, as far as targets see.
Model Bodies() {
  Model model;
  for (const auto& [name, field] :
       {std::pair("pad", "full_space"), std::pair("plate", "kinematic"), std::pair("floor", "static_body")}) {
    const BodyKindRow* kind = FindBodyKind(field);
    Body body;
    body.name = name;
    body.kind = std::string(kind->name);
    body.traits = kind->traits;
    model.bodies.push_back(body);
  }
  for (const auto& [name, body] : {std::pair("rim", 0), std::pair("back", 0), std::pair("", 1)}) {
    BoundarySet set;
    set.name = name;
    set.body = body;
    model.boundary_sets.push_back(set);
  }
  return model;
}

v1::StepRequest Request(const std::string& text) {
  v1::StepRequest request;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request)) << text;
  return request;
}

absl::Status Error(const std::string& text) { return TargetsFromProto(Bodies(), Request(text).targets()).status(); }

TEST(TargetsFromProto, FindsFrames) {
  const auto targets =
      TargetsFromProto(Bodies(), Request("targets { body: 'pad' boundary_set: 'back' pose { position_m { x: 1 } } }"
                                         "targets { body: 'plate' pose { quaternion { z: 1 } } }")
                                     .targets());
  ASSERT_TRUE(targets.ok()) << targets.status();
  ASSERT_EQ(targets->size(), 2u);
  EXPECT_EQ(targets->at(0).boundary_set, 1);
  EXPECT_EQ(targets->at(0).pose.position, Vec3(1, 0, 0));
  EXPECT_EQ(targets->at(1).boundary_set, 2);
  EXPECT_EQ(targets->at(1).pose.rotation.z(), 1);
}

TEST(TargetsFromProto, NamesWhatThereIs) {
  const absl::Status body = Error("targets { body: 'pda' pose {} }");
  EXPECT_EQ(body.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(body.message(), "TARGET_NOT_FOUND: targets[0].body: no body 'pda'; there are: pad, plate, floor");
  const absl::Status set = Error("targets { body: 'pad' boundary_set: 'front' pose {} }");
  EXPECT_EQ(set.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(set.message()), HasSubstr("'pad' has no boundary set 'front'; it has: rim, back"));
  const absl::Status kinematic = Error("targets { body: 'plate' boundary_set: 'x' pose {} }");
  EXPECT_EQ(kinematic.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(kinematic.message()), HasSubstr("leave the field empty"));
}

TEST(TargetsFromProto, RefusesWhatCannotBeDriven) {
  const absl::Status status = Error("targets { body: 'floor' pose {} }");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), StartsWith("TARGET_NOT_DRIVABLE: targets[0].body: 'floor'"));
}

TEST(TargetsFromProto, RefusesBadPoses) {
  for (const char* text :
       {"targets { body: 'plate' }", "targets { body: 'plate' pose { position_m { x: nan } } }",
        "targets { body: 'plate' pose { rpy_rad { x: inf } } }", "targets { body: 'plate' pose { quaternion { w: 3 } } }",
        "targets { body: 'plate' pose {} } targets { body: 'plate' pose {} }"}) {
    const absl::Status status = Error(text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), StartsWith("INVALID_REQUEST: targets[")) << text;
  }
}

TEST(StepOrderFromProto, ChecksItsNumbers) {
  const auto order = [](const std::string& text) { return StepOrderFromProto(Bodies(), Request(text), 10); };
  ASSERT_TRUE(order("dt_s: 0.01").ok());
  EXPECT_EQ(order("dt_s: 0.01")->substeps, 1);
  EXPECT_EQ(order("dt_s: 0.01")->time_limit_s, 0);
  EXPECT_EQ(order("dt_s: 0.01 time_limit_s: 0.02")->time_limit_s, 0.02);
  EXPECT_FALSE(order("dt_s: 0.01")->expected_step.has_value());
  EXPECT_EQ(order("dt_s: 0.01 substeps: 10 expected_step: 0")->expected_step, 0);
  for (const char* text : {"dt_s: 0", "dt_s: -1", "dt_s: nan", "dt_s: inf", "dt_s: 0.01 substeps: 11", "dt_s: 0.01 substeps: -1",
                           "dt_s: 0.01 time_limit_s: -1", "dt_s: 0.01 time_limit_s: nan", "dt_s: 0.01 time_limit_s: inf"}) {
    EXPECT_EQ(order(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

// The set "back" of the pad slides.
Model WithSlider() {
  Model model = Bodies();
  Slider slider;
  slider.boundary_set = 1;
  slider.max_force_n = 10;
  slider.damping_n_s_m = 5;
  model.boundary_sets[1].slides = true;
  model.sliders = {slider};
  return model;
}

absl::StatusOr<std::vector<TimedDrive>> Drives(const std::string& text) {
  return DriveCommandsFromProto(WithSlider(), Request(text).drives());
}

TEST(DriveCommandsFromProto, ReadsMotions) {
  const auto drives = Drives(
      "drives { body: 'pad' boundary_set: 'back' motion { mode: FORCE interpolation: MINIMUM_JERK keys { value: 1 } "
      "keys { time_s: 0.5 value: -4 } } }");
  ASSERT_TRUE(drives.ok()) << drives.status();
  ASSERT_EQ(drives->size(), 1u);
  const auto& [slider, motion] = drives->at(0);
  EXPECT_EQ(slider, 0);
  EXPECT_EQ(motion.mode, DriveMode::kForce);
  EXPECT_EQ(motion.interpolation, Interpolation::kMinimumJerk);
  EXPECT_NEAR(motion.At(0.25), -1.5, 1e-15);
}

TEST(DriveCommandsFromProto, NamesWhatIsWrong) {
  struct Case {
    std::string text;
    absl::StatusCode code;
    std::string message;
  };
  const auto back = [](const std::string& motion) {
    return "drives { body: 'pad' boundary_set: 'back' motion { " + motion + " } }";
  };
  const std::string good = back("mode: FORCE keys { value: 1 }");
  for (const Case& c : {
           Case{"drives { body: 'pod' }", absl::StatusCode::kNotFound, "TARGET_NOT_FOUND: drives[0].body: no body 'pod'"},
           Case{"drives { body: 'pad' boundary_set: 'rim' }", absl::StatusCode::kInvalidArgument,
                "TARGET_NOT_DRIVABLE: drives[0]: 'pad' has no slider there; there are: pad/back"},
           Case{back(""), absl::StatusCode::kInvalidArgument, "INVALID_REQUEST: drives[0].motion.keys: must have at least one key"},
           Case{back("mode: FORCE keys { value: nan }"), absl::StatusCode::kInvalidArgument,
                "INVALID_REQUEST: drives[0].motion.keys[0].value: must be"},
           Case{back("mode: FORCE keys { value: -11 }"), absl::StatusCode::kInvalidArgument,
                "INVALID_REQUEST: drives[0].motion.keys[0].value: must be at most the drive's max_force_n (10), got -11"},
           Case{back("keys { value: 0.1 }"), absl::StatusCode::kInvalidArgument,
                "INVALID_REQUEST: drives[0].motion.keys[0].value: a position needs a drive with stiffness_n_m > 0"},
           Case{back("mode: VELOCITY keys { time_s: 1 } keys { time_s: 1 }"), absl::StatusCode::kInvalidArgument,
                "INVALID_REQUEST: drives[0].motion.keys[1].time_s: must be later than the one before, got 1"},
           Case{back("mode: 9 keys { }"), absl::StatusCode::kInvalidArgument, "INVALID_REQUEST: drives[0].motion.mode"},
           Case{good + good, absl::StatusCode::kInvalidArgument, "INVALID_REQUEST: drives[1]: this drive has a command already"},
       }) {
    const absl::Status status = Drives(c.text).status();
    EXPECT_EQ(status.code(), c.code) << c.text;
    EXPECT_THAT(std::string(status.message()), StartsWith(c.message)) << c.text;
  }
}

}  // namespace
}  // namespace eipc
