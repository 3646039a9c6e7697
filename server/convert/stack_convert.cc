#include "server/convert/stack_convert.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "eipc/v1/observation.pb.h"
#include "eipc/v1/service.pb.h"
#include "server/convert/body_names.h"
#include "server/convert/observation_convert.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

// Numbers in a row of a body, a pair and a world.
constexpr int64_t kPose = 7, kTwist = 6, kMotion = kPose + kTwist, kWrench = 12, kCounts = 2, kDigits = 16;
// Beside the numbers of a row: step, time, and what a failure says.
constexpr int64_t kPerRow = 256;
// Of the answers that rows are made from: how many others a body touches where many lie together, and what the messages take of two
// bodies that touch.
constexpr int64_t kTouched = 8, kPerWrench = 512, kPerCount = 256;
constexpr std::array<absl::string_view, 10> kGroups = {
    "poses",          "twists",       "cage_positions", "surface_positions", "contact_wrenches",
    "contact_counts", "min_distance", "solver_report",  "state_digest",      "cameras"};
// What says how groups come, and asks for none.
constexpr std::array<absl::string_view, 2> kManners = {"bodies", "positions_dtype"};

using Shape = std::initializer_list<int64_t>;

// An array with a row for each world, zero where nothing is put.
template <typename T>
class Rows {
 public:
  Rows(v1::DataType type, int64_t worlds, Shape shape_of_row, v1::NdArray* out) {
    out->set_dtype(type);
    out->add_shape(worlds);
    for (const int64_t n : shape_of_row) {
      out->add_shape(n);
      length_ *= n;
    }
    out->mutable_data()->assign(worlds * length_ * sizeof(T), '\0');
    data_ = out->mutable_data()->data();
  }

  // From element `at` of a row on.
  void Put(int64_t row, int64_t at, std::initializer_list<T> values) {
    std::memcpy(data_ + (row * length_ + at) * sizeof(T), values.begin(), values.size() * sizeof(T));
  }
  void PutBytes(int64_t row, const std::string& bytes) {
    std::memcpy(data_ + row * length_ * sizeof(T), bytes.data(), std::min<size_t>(bytes.size(), length_ * sizeof(T)));
  }

 private:
  char* data_ = nullptr;
  int64_t length_ = 1;
};

using Numbers = Rows<double>;
using Counts = Rows<int32_t>;

void StackReports(const v1::StepBatchResponse& answers, v1::StackedSolverReports* out) {
  const int worlds = answers.responses_size();
  Counts outcome(v1::INT32, worlds, {}, out->mutable_outcome());
  Counts limited_by(v1::INT32, worlds, {}, out->mutable_limited_by());
  Counts iterations(v1::INT32, worlds, {}, out->mutable_newton_iterations());
  Counts missed_targets(v1::INT32, worlds, {}, out->mutable_missed_targets());
  Numbers residual(v1::FLOAT64, worlds, {}, out->mutable_residual_m_s());
  Numbers target_error(v1::FLOAT64, worlds, {}, out->mutable_target_error_m());
  Numbers wall_time(v1::FLOAT64, worlds, {}, out->mutable_wall_time_s());
  for (int i = 0; i < worlds; ++i) {
    const v1::SolverReport& report = answers.responses(i).observation().solver_report();
    outcome.Put(i, 0, {report.outcome()});
    limited_by.Put(i, 0, {report.limited_by()});
    iterations.Put(i, 0, {report.newton_iterations()});
    missed_targets.Put(i, 0, {report.missed_targets()});
    residual.Put(i, 0, {report.residual_m_s()});
    target_error.Put(i, 0, {report.target_error_m()});
    wall_time.Put(i, 0, {report.wall_time_s()});
  }
}

// [K,n,3]: an array of points of each world's observation.
template <typename PointsOf>
void StackPoints(const v1::StepBatchResponse& answers, int64_t points, bool float32, PointsOf points_of, v1::NdArray* out) {
  const auto put = [&](auto rows) {
    for (int i = 0; i < answers.responses_size(); ++i) {
      if (answers.responses(i).has_observation()) rows.PutBytes(i, points_of(answers.responses(i).observation()).data());
    }
  };
  if (float32) {
    put(Rows<float>(v1::FLOAT32, answers.responses_size(), {points, 3}, out));
  } else {
    put(Numbers(v1::FLOAT64, answers.responses_size(), {points, 3}, out));
  }
}

void PutPose(const v1::Pose& pose, int64_t row, int64_t at, Numbers* out) {
  const v1::Vec3& p = pose.position_m();
  const v1::Quaternion& q = pose.quaternion();
  out->Put(row, at, {p.x(), p.y(), p.z(), q.w(), q.x(), q.y(), q.z()});
}

void PutVector(const v1::Vec3& v, int64_t row, int64_t at, Numbers* out) { out->Put(row, at, {v.x(), v.y(), v.z()}); }

// What one of the cameras saw of each world.
void StackPictures(const v1::StepBatchResponse& answers, const v1::Camera& camera, int index, v1::StackedPictures* out) {
  const int worlds = answers.responses_size();
  const int64_t width = camera.width(), height = camera.height();
  out->set_name(camera.name());
  Numbers poses(v1::FLOAT64, worlds, {kPose}, out->mutable_poses());
  std::optional<Rows<float>> depth;
  std::optional<Rows<uint16_t>> segmentation;
  std::optional<Rows<uint8_t>> colour;
  if (camera.depth()) depth.emplace(v1::FLOAT32, worlds, Shape{height, width}, out->mutable_depth());
  if (camera.segmentation()) segmentation.emplace(v1::UINT16, worlds, Shape{height, width}, out->mutable_segmentation());
  if (camera.colour()) colour.emplace(v1::UINT8, worlds, Shape{height, width, 3}, out->mutable_colour());
  for (int i = 0; i < worlds; ++i) {
    const v1::CameraPictures& pictures = answers.responses(i).observation().cameras();
    if (index >= pictures.pictures_size()) continue;
    const v1::CameraPicture& picture = pictures.pictures(index);
    PutPose(picture.camera().pose(), i, 0, &poses);
    if (depth) depth->PutBytes(i, picture.depth().data());
    if (segmentation) segmentation->PutBytes(i, picture.segmentation().data());
    if (colour) colour->PutBytes(i, picture.colour().data());
    if (picture.unfinished().empty()) continue;
    v1::UnfinishedPicture& unfinished = *out->add_unfinished();
    unfinished.set_row(i);
    unfinished.set_why(picture.unfinished());
  }
}

absl::Status CheckGroups(const v1::ObservationRequest& request) {
  using google::protobuf::FieldDescriptor;
  std::vector<const FieldDescriptor*> asked;
  request.GetReflection()->ListFields(request, &asked);
  for (const FieldDescriptor* field : asked) {
    const auto among = [field](const auto& names) { return std::find(names.begin(), names.end(), field->name()) != names.end(); };
    if (among(kGroups) || among(kManners)) continue;
    return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: stack.observe.", field->name(),
                                                   ": does not come stacked; these do: ", absl::StrJoin(kGroups, ", "),
                                                   "; ask for it in the steps of a batch without stack"));
  }
  return absl::OkStatus();
}

}  // namespace

StackPlan::StackPlan(const Model* model, const v1::StackRequest* request, const ObservationPlan& observed)
    : model_(model), request_(request), bodies_(observed.bodies()), observation_bytes_(observed.MostBytes(*model)) {
  const v1::ObservationRequest& observe = request->observe();
  const int64_t touching = bodies() * std::min<int64_t>(static_cast<int64_t>(model->bodies.size()), kTouched);
  if (observe.contact_wrenches()) observation_bytes_ += touching * kPerWrench;
  if (observe.contact_counts()) observation_bytes_ += touching * kPerCount;
}

absl::StatusOr<StackPlan> StackPlan::Create(const Model& model, const v1::StackRequest& request) {
  EIPC_RETURN_IF_ERROR(CheckGroups(request.observe()));
  EIPC_ASSIGN_OR_RETURN(const ObservationPlan observed, ObservationPlan::Create(model, request.observe(), "stack.observe"));
  StackPlan plan(&model, &request, observed);
  EIPC_RETURN_IF_ERROR(plan.FindPairs());
  return plan;
}

absl::Status StackPlan::FindPairs() {
  std::map<absl::string_view, int> by_name;  // there may be as many pairs as the square of the bodies
  for (size_t body = 0; body < model_->bodies.size(); ++body) by_name.emplace(model_->bodies[body].name, static_cast<int>(body));
  const auto find = [&](const std::string& name, const std::string& path) -> absl::StatusOr<int> {
    const auto found = by_name.find(name);
    if (found != by_name.end()) return found->second;
    return FindNamedBody(*model_, name, path);
  };
  std::vector<bool> observed(model_->bodies.size(), false);
  for (const int body : bodies_) observed[body] = true;
  for (int i = 0; i < request_->pairs_size(); ++i) {
    const v1::BodyPair& pair = request_->pairs(i);
    const std::string path = absl::StrCat("stack.pairs[", i, "]");
    const auto refuse = [&path](absl::string_view text) {
      return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", path, text));
    };
    EIPC_ASSIGN_OR_RETURN(const int body, find(pair.body(), path + ".body"));
    EIPC_RETURN_IF_ERROR(find(pair.other(), path + ".other").status());
    if (!observed[body]) return refuse(".body: is not among stack.observe.bodies");
    if (!pairs_.emplace(std::pair(absl::string_view(pair.body()), absl::string_view(pair.other())), i).second) {
      return refuse(": is there already");
    }
  }
  const bool wanted = request_->observe().contact_wrenches() || request_->observe().contact_counts();
  if (wanted && pairs_.empty()) {
    return absl::InvalidArgumentError(
        "INVALID_REQUEST: stack.pairs: missing; contact_wrenches and contact_counts are of these pairs");
  }
  if (!wanted && !pairs_.empty()) {
    return absl::InvalidArgumentError(
        "INVALID_REQUEST: stack.pairs: must be empty where stack.observe has neither contact_wrenches nor contact_counts");
  }
  return absl::OkStatus();
}

int64_t StackPlan::Bytes(int64_t worlds) const {
  const v1::ObservationRequest& observe = request_->observe();
  const int64_t per_point = 3 * (observe.positions_dtype() == v1::FLOAT32 ? sizeof(float) : sizeof(double));
  int64_t row = kPerRow + bodies() * kMotion * sizeof(double) + pairs() * (kWrench * sizeof(double) + kCounts * sizeof(int32_t));
  for (const int body : bodies_) {
    if (observe.cage_positions()) row += per_point * model_->bodies[body].nodes.size();
    if (observe.surface_positions()) row += per_point * model_->bodies[body].vertices.size();
  }
  for (const v1::Camera& camera : observe.cameras()) {
    const int64_t per_pixel = (camera.depth() ? sizeof(float) : 0) + (camera.segmentation() ? sizeof(uint16_t) : 0) +
                              (camera.colour() ? 3 * sizeof(uint8_t) : 0);
    row += kPerRow + kPose * sizeof(double) + per_pixel * camera.width() * camera.height();
  }
  return worlds * row;
}

int64_t StackPlan::AnswerBytes(int64_t worlds) const { return worlds * observation_bytes_; }

void StackPlan::Stack(const v1::StepBatchResponse& answers, v1::StackedObservations* out) const {
  StackStates(answers, out);
  StackBodies(answers, out);
  StackContacts(answers, out);
  if (request_->observe().solver_report()) StackReports(answers, out->mutable_solver_reports());
  if (request_->observe().cameras().empty()) return;
  for (const Body& body : model_->bodies) out->add_camera_bodies(body.name);
  for (int camera = 0; camera < request_->observe().cameras_size(); ++camera) {
    StackPictures(answers, request_->observe().cameras(camera), camera, out->add_cameras());
  }
}

void StackPlan::StackStates(const v1::StepBatchResponse& answers, v1::StackedObservations* out) const {
  const int worlds = answers.responses_size();
  Rows<int64_t> step(v1::INT64, worlds, {}, out->mutable_step());
  Numbers time(v1::FLOAT64, worlds, {}, out->mutable_time_s());
  for (int i = 0; i < worlds; ++i) {
    const v1::StepResponse& answer = answers.responses(i);
    step.Put(i, 0, {answer.session_step()});
    time.Put(i, 0, {answer.observation().time_s()});
    if (answer.status_code() == 0) continue;
    v1::StackedFailure& failure = *out->add_failures();
    failure.set_row(i);
    failure.set_status_code(answer.status_code());
    failure.set_status_message(answer.status_message());
  }
  if (request_->observe().state_digest()) {
    Rows<char> digest(v1::UINT8, worlds, {kDigits}, out->mutable_state_digest());
    for (int i = 0; i < worlds; ++i) digest.PutBytes(i, answers.responses(i).observation().state_digest());
  }
  if (request_->observe().min_distance()) {
    Numbers distance(v1::FLOAT64, worlds, {}, out->mutable_min_distance_m());
    for (int i = 0; i < worlds; ++i) distance.Put(i, 0, {answers.responses(i).observation().min_distance_m()});
  }
}

void StackPlan::StackBodies(const v1::StepBatchResponse& answers, v1::StackedObservations* out) const {
  const v1::ObservationRequest& observe = request_->observe();
  const int worlds = answers.responses_size();
  const bool float32 = observe.positions_dtype() == v1::FLOAT32;
  for (const int body : bodies_) out->add_bodies(model_->bodies[body].name);
  if (observe.poses()) {
    Numbers poses(v1::FLOAT64, worlds, {bodies(), kPose}, out->mutable_poses());
    for (int i = 0; i < worlds; ++i) {
      int64_t at = 0;
      for (const v1::BodyObservation& body : answers.responses(i).observation().bodies())
        PutPose(body.pose(), i, kPose * at++, &poses);
    }
  }
  if (observe.twists()) {
    Numbers twists(v1::FLOAT64, worlds, {bodies(), kTwist}, out->mutable_twists());
    for (int i = 0; i < worlds; ++i) {
      int64_t at = 0;
      for (const v1::BodyObservation& body : answers.responses(i).observation().bodies()) {
        PutVector(body.linear_velocity_m_s(), i, at, &twists);
        PutVector(body.angular_velocity_rad_s(), i, at + 3, &twists);
        at += kTwist;
      }
    }
  }
  for (int b = 0; b < bodies(); ++b) {
    const Body& body = model_->bodies[bodies_[b]];
    if (observe.cage_positions()) {
      StackPoints(
          answers, body.nodes.size(), float32,
          [b](const v1::Observation& seen) -> const v1::NdArray& { return seen.bodies(b).cage_positions(); },
          out->add_cage_positions());
    }
    if (observe.surface_positions()) {
      StackPoints(
          answers, body.vertices.size(), float32,
          [b](const v1::Observation& seen) -> const v1::NdArray& { return seen.bodies(b).surface_positions(); },
          out->add_surface_positions());
    }
  }
}

void StackPlan::StackContacts(const v1::StepBatchResponse& answers, v1::StackedObservations* out) const {
  const int worlds = answers.responses_size();
  if (request_->observe().contact_wrenches()) {
    Numbers wrenches(v1::FLOAT64, worlds, {pairs(), 4, 3}, out->mutable_contact_wrenches());
    for (int i = 0; i < worlds; ++i) {
      for (const v1::ContactWrench& wrench : answers.responses(i).observation().contact_wrenches()) {
        const auto pair = pairs_.find({wrench.body(), wrench.other()});
        if (pair == pairs_.end()) continue;
        const int64_t at = kWrench * pair->second;
        PutVector(wrench.normal_force_n(), i, at, &wrenches);
        PutVector(wrench.friction_force_n(), i, at + 3, &wrenches);
        PutVector(wrench.normal_moment_nm(), i, at + 6, &wrenches);
        PutVector(wrench.friction_moment_nm(), i, at + 9, &wrenches);
      }
    }
  }
  if (!request_->observe().contact_counts()) return;
  Counts counts(v1::INT32, worlds, {pairs(), kCounts}, out->mutable_contact_counts());
  for (int i = 0; i < worlds; ++i) {
    for (const v1::PairCount& count : answers.responses(i).observation().contact_counts().pairs()) {
      const absl::string_view a = count.body_a(), b = count.body_b();
      for (const auto& names : {std::pair(a, b), std::pair(b, a)}) {
        const auto pair = pairs_.find(names);
        if (pair != pairs_.end()) counts.Put(i, kCounts * pair->second, {count.point_triangle(), count.edge_edge()});
      }
    }
  }
}

}  // namespace eipc
