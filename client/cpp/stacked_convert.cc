#include "client/cpp/stacked_convert.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/convert.h"

namespace eipc::client {
namespace {

constexpr size_t kDigits = 16;

template <typename T>
constexpr v1::DataType TypeOf() {
  if constexpr (std::is_same_v<T, double>) return v1::FLOAT64;
  if constexpr (std::is_same_v<T, float>) return v1::FLOAT32;
  if constexpr (std::is_same_v<T, int64_t>) return v1::INT64;
  if constexpr (std::is_same_v<T, int32_t>) return v1::INT32;
  if constexpr (std::is_same_v<T, uint16_t>) return v1::UINT16;
  return v1::UINT8;
}

// Reads the arrays of an answer, and remembers the first that does not fit its shape.
class ArrayReader {
 public:
  explicit ArrayReader(size_t rows) : rows_(rows) {}

  const absl::Status& status() const { return status_; }

  // Numbers of type T, of shape [rows, `of_row`...]; -1 stands for any extent.
  template <typename T>
  std::vector<T> Numbers(const v1::NdArray& array, std::initializer_list<int64_t> of_row, const char* what) {
    if (!Fits(array, of_row, sizeof(T)) || array.dtype() != TypeOf<T>()) return Misfit<T>(what);
    std::vector<T> values(array.data().size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), array.data().data(), array.data().size());
    return values;
  }

  // The same in double precision or single, as double.
  WorldRows Rows(const v1::NdArray& array, std::initializer_list<int64_t> of_row, const char* what) {
    std::vector<double> values;
    if (array.dtype() == v1::FLOAT32) {
      const std::vector<float> narrow = Numbers<float>(array, of_row, what);
      values.assign(narrow.begin(), narrow.end());
    } else {
      values = Numbers<double>(array, of_row, what);
    }
    if (rows_ == 0 || values.empty()) return WorldRows();
    const size_t width = values.size() / rows_;
    return WorldRows(width, std::move(values));
  }

 private:
  bool Fits(const v1::NdArray& array, std::initializer_list<int64_t> of_row, size_t element_bytes) const {
    if (array.shape_size() != static_cast<int>(of_row.size()) + 1 || array.shape(0) != static_cast<int64_t>(rows_)) return false;
    size_t bytes = rows_ * element_bytes;
    for (int k = 1; k < array.shape_size(); ++k) {
      const int64_t extent = array.shape(k), expected = of_row.begin()[k - 1];
      if (extent < 0 || (expected >= 0 && extent != expected)) return false;
      if (extent > 0 && bytes > array.data().size() / static_cast<size_t>(extent)) return false;  // the product may wrap around
      bytes *= static_cast<size_t>(extent);
    }
    return bytes == array.data().size();
  }

  template <typename T>
  std::vector<T> Misfit(const char* what) {
    if (status_.ok()) status_ = absl::DataLossError(absl::StrCat("the server sent ", what, " that do not fit the request"));
    return {};
  }

  size_t rows_;
  absl::Status status_;
};

std::vector<WorldRows> OfBodies(const google::protobuf::RepeatedPtrField<v1::NdArray>& arrays, const char* what,
                                ArrayReader* read) {
  std::vector<WorldRows> of_bodies;
  for (const v1::NdArray& array : arrays) of_bodies.push_back(read->Rows(array, {-1, 3}, what));
  return of_bodies;
}

std::vector<std::string> Digests(const v1::NdArray& array, ArrayReader* read) {
  const std::vector<uint8_t> digits = read->Numbers<uint8_t>(array, {kDigits}, "digests");
  std::vector<std::string> digests;
  for (size_t at = 0; at < digits.size(); at += kDigits) {
    const char* first = reinterpret_cast<const char*>(digits.data() + at);
    digests.emplace_back(first, strnlen(first, kDigits));
  }
  return digests;
}

StackedSolverReports Reports(const v1::StackedSolverReports& reports, ArrayReader* read) {
  StackedSolverReports out;
  for (const int32_t outcome : read->Numbers<int32_t>(reports.outcome(), {}, "outcomes")) {
    out.outcome.push_back(OutcomeFromProto(static_cast<v1::StepOutcome>(outcome)));
  }
  out.newton_iterations = read->Numbers<int32_t>(reports.newton_iterations(), {}, "numbers of iterations");
  out.missed_targets = read->Numbers<int32_t>(reports.missed_targets(), {}, "missed targets");
  out.residual_m_s = read->Numbers<double>(reports.residual_m_s(), {}, "residuals");
  out.target_error_m = read->Numbers<double>(reports.target_error_m(), {}, "errors of targets");
  out.wall_time_s = read->Numbers<double>(reports.wall_time_s(), {}, "wall times");
  for (const int32_t limit : read->Numbers<int32_t>(reports.limited_by(), {}, "limits of steps")) {
    out.ended_by_time.push_back(limit == v1::LIMITED_BY_TIME);
  }
  return out;
}

StackedPictures Pictures(const v1::StackedPictures& pictures, const Camera& camera, ArrayReader* read) {
  StackedPictures out;
  out.name = pictures.name();
  out.poses = read->Rows(pictures.poses(), {7}, "poses of cameras");
  const int64_t width = camera.width, height = camera.height;
  if (camera.depth) out.depth = read->Numbers<float>(pictures.depth(), {height, width}, "depths");
  if (camera.segmentation) out.segmentation = read->Numbers<uint16_t>(pictures.segmentation(), {height, width}, "segmentations");
  if (camera.colour) out.colour = read->Numbers<uint8_t>(pictures.colour(), {height, width, 3}, "colours");
  for (const v1::UnfinishedPicture& picture : pictures.unfinished()) out.unfinished[picture.row()] = picture.why();
  return out;
}

void ReadContacts(const v1::StackedObservations& stacked, ArrayReader* read, StackedObservations* out) {
  const auto pairs = static_cast<int64_t>(out->pairs.size());
  if (stacked.has_contact_wrenches()) out->contact_wrenches = read->Rows(stacked.contact_wrenches(), {pairs, 4, 3}, "wrenches");
  if (!stacked.has_contact_counts()) return;
  const std::vector<int32_t> counts = read->Numbers<int32_t>(stacked.contact_counts(), {pairs, 2}, "contact counts");
  for (size_t at = 0; at < counts.size(); at += 2) {
    out->point_triangle_contacts.push_back(counts[at]);
    out->edge_edge_contacts.push_back(counts[at + 1]);
  }
}

}  // namespace

v1::StepBatchRequest StackedBatchToProto(const std::string& session, double dt_s, const std::vector<StepOptions>& steps,
                                         const StackOptions& stack) {
  v1::StepBatchRequest request;
  request.set_session(session);
  request.set_request_id(stack.request_id);
  for (const StepOptions& step : steps) {
    v1::StepRequest& one = *request.add_steps() = StepToProto(session, dt_s, step);
    one.clear_observe();
  }
  ObserveToProto(stack.observe, request.mutable_stack()->mutable_observe());
  for (const auto& [body, other] : stack.pairs) {
    v1::BodyPair& pair = *request.mutable_stack()->add_pairs();
    pair.set_body(body);
    pair.set_other(other);
  }
  return request;
}

absl::StatusOr<StackedObservations> StackedFromProto(const v1::StackedObservations& stacked, size_t worlds,
                                                     const StackOptions& stack) {
  ArrayReader read(worlds);
  StackedObservations out;
  for (const v1::StackedFailure& failure : stacked.failures()) {
    out.failures[failure.row()] = absl::Status(static_cast<absl::StatusCode>(failure.status_code()), failure.status_message());
  }
  out.step = read.Numbers<int64_t>(stacked.step(), {}, "steps");
  out.time_s = read.Numbers<double>(stacked.time_s(), {}, "times");
  out.bodies.assign(stacked.bodies().begin(), stacked.bodies().end());
  out.pairs = stack.pairs;
  const auto bodies = static_cast<int64_t>(out.bodies.size());
  if (stacked.has_poses()) out.poses = read.Rows(stacked.poses(), {bodies, 7}, "poses");
  if (stacked.has_twists()) out.twists = read.Rows(stacked.twists(), {bodies, 6}, "twists");
  out.cage_positions = OfBodies(stacked.cage_positions(), "cage positions", &read);
  out.surface_positions = OfBodies(stacked.surface_positions(), "surface positions", &read);
  ReadContacts(stacked, &read, &out);
  if (stacked.has_min_distance_m()) out.min_distance_m = read.Numbers<double>(stacked.min_distance_m(), {}, "distances");
  if (stacked.has_state_digest()) out.state_digest = Digests(stacked.state_digest(), &read);
  if (stacked.has_solver_reports()) out.solver = Reports(stacked.solver_reports(), &read);
  out.camera_bodies.assign(stacked.camera_bodies().begin(), stacked.camera_bodies().end());
  const size_t cameras = stack.observe.cameras.size();
  if (static_cast<size_t>(stacked.cameras_size()) != cameras) {
    return absl::DataLossError(absl::StrCat("the server sent pictures of ", stacked.cameras_size(), " cameras, not of ", cameras));
  }
  for (size_t i = 0; i < cameras; ++i) {
    out.cameras.push_back(Pictures(stacked.cameras(static_cast<int>(i)), stack.observe.cameras[i], &read));
  }
  if (!read.status().ok()) return read.status();
  return out;
}

}  // namespace eipc::client
