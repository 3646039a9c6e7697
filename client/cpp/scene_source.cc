#include "client/cpp/scene_source.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/cpp/convert.h"
#include "eipc/v1/scene.pb.h"

namespace eipc::client {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

class Collector : public google::protobuf::io::ErrorCollector {
 public:
  explicit Collector(std::string name) : name_(std::move(name)) {}
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    lines.push_back(absl::StrCat(name_, ":", line + 1, ":", column + 1, ": ", message));
  }
  std::vector<std::string> lines;

 private:
  const std::string name_;
};

absl::StatusOr<std::unique_ptr<v1::Scene>> Parse(const std::string& text, const std::string& name) {
  Collector collector(name);
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  auto scene = std::make_unique<v1::Scene>();
  if (parser.ParseFromString(text, scene.get())) return scene;
  return absl::InvalidArgumentError(absl::StrJoin(collector.lines, "\n"));
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::ostringstream bytes;
  bytes << in.rdbuf();
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  return std::move(bytes).str();
}

// Every mesh below a message, whatever kind of body holds it.
void CollectMeshes(Message* message, std::vector<v1::Mesh*>* meshes) {
  if (auto* mesh = google::protobuf::DynamicCastToGenerated<v1::Mesh>(message)) return meshes->push_back(mesh);
  std::vector<const FieldDescriptor*> fields;
  message->GetReflection()->ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) CollectMeshes(message->GetReflection()->MutableMessage(message, field), meshes);
    for (int i = 0; field->is_repeated() && i < message->GetReflection()->FieldSize(*message, field); ++i) {
      CollectMeshes(message->GetReflection()->MutableRepeatedMessage(message, field, i), meshes);
    }
  }
}

// How a body moves whose kind says so as a whole; nullptr: its kind does not.
const v1::Trajectory* TrajectoryOf(const v1::Body& body) {
  const auto* kinds = v1::Body::descriptor()->FindOneofByName("kind");
  const FieldDescriptor* kind_field = body.GetReflection()->GetOneofFieldDescriptor(body, kinds);
  if (kind_field == nullptr) return nullptr;
  const Message& kind = body.GetReflection()->GetMessage(body, kind_field);
  const FieldDescriptor* field = kind.GetDescriptor()->FindFieldByName("trajectory");
  if (field == nullptr || field->message_type() != v1::Trajectory::descriptor()) return nullptr;
  return google::protobuf::DynamicCastToGenerated<v1::Trajectory>(&kind.GetReflection()->GetMessage(kind, field));
}

absl::Status Inline(v1::Mesh* mesh, const std::filesystem::path& base_folder, const std::string& data_folder) {
  if (!mesh->has_file()) return absl::OkStatus();
  absl::string_view reference = mesh->file();
  std::filesystem::path path = base_folder;
  if (absl::ConsumePrefix(&reference, "data:")) {
    const char* from_environment = std::getenv("EIPC_DATA");
    path = !data_folder.empty() ? data_folder : from_environment != nullptr ? from_environment : "";
    if (path.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("mesh ", mesh->file(), " needs the data folder: give it, or set EIPC_DATA"));
    }
  }
  path /= std::string(reference);
  absl::StatusOr<std::string> bytes = ReadFile(path.string());
  if (!bytes.ok()) return bytes.status();
  v1::MeshFile& contents = *mesh->mutable_contents();
  contents.set_file_name(path.filename().string());
  contents.set_data(*std::move(bytes));
  return absl::OkStatus();
}

void AddFrame(const std::string& body, const std::string& set, const v1::Trajectory& trajectory, std::vector<DrivenFrame>* frames) {
  if (trajectory.keyframes().empty()) return;
  DrivenFrame frame{body, set, {}};
  for (const v1::Keyframe& key : trajectory.keyframes()) frame.keys.push_back({key.time_s(), PoseFromProto(key.pose())});
  frames->push_back(std::move(frame));
}

std::array<double, 4> Slerp(const std::array<double, 4>& a, std::array<double, 4> b, double s) {
  double cosine = 0;
  for (int i = 0; i < 4; ++i) cosine += a[i] * b[i];
  if (cosine < 0) {
    for (double& component : b) component = -component;
    cosine = -cosine;
  }
  double weight_a = 1 - s;
  double weight_b = s;
  // Nearly equal orientations: the straight line is the arc.
  if (cosine < 1 - 1e-9) {
    const double angle = std::acos(cosine);
    weight_a = std::sin((1 - s) * angle) / std::sin(angle);
    weight_b = std::sin(s * angle) / std::sin(angle);
  }
  std::array<double, 4> result;
  double norm2 = 0;
  for (int i = 0; i < 4; ++i) {
    result[i] = weight_a * a[i] + weight_b * b[i];
    norm2 += result[i] * result[i];
  }
  for (double& component : result) component /= std::sqrt(norm2);
  return result;
}

}  // namespace

Pose DrivenFrame::At(double time_s) const {
  const auto after = std::upper_bound(keys.begin(), keys.end(), time_s, [](double t, const Key& key) { return t < key.time_s; });
  if (after == keys.begin()) return keys.front().pose;
  if (after == keys.end()) return keys.back().pose;
  const Key& a = *(after - 1);
  const Key& b = *after;
  const double s = (time_s - a.time_s) / (b.time_s - a.time_s);
  Pose pose;
  for (int i = 0; i < 3; ++i) pose.position_m[i] = (1 - s) * a.pose.position_m[i] + s * b.pose.position_m[i];
  pose.quaternion_wxyz = Slerp(a.pose.quaternion_wxyz, b.pose.quaternion_wxyz, s);
  return pose;
}

SceneSource::SceneSource(std::unique_ptr<v1::Scene> scene) : scene_(std::move(scene)) {}
SceneSource::SceneSource(SceneSource&&) noexcept = default;
SceneSource& SceneSource::operator=(SceneSource&&) noexcept = default;
SceneSource::~SceneSource() = default;

absl::StatusOr<SceneSource> SceneSource::FromFile(const std::string& path, const std::string& data_folder) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  return Read(*text, path, std::filesystem::path(path).parent_path().string(), data_folder);
}

absl::StatusOr<SceneSource> SceneSource::FromText(const std::string& text, const std::string& base_folder,
                                                  const std::string& data_folder) {
  return Read(text, "scene text", base_folder, data_folder);
}

absl::StatusOr<SceneSource> SceneSource::Read(const std::string& text, const std::string& name, const std::string& base_folder,
                                              const std::string& data_folder) {
  absl::StatusOr<std::unique_ptr<v1::Scene>> scene = Parse(text, name);
  if (!scene.ok()) return scene.status();
  std::vector<v1::Mesh*> meshes;
  CollectMeshes(scene->get(), &meshes);
  for (v1::Mesh* mesh : meshes) {
    const absl::Status status = Inline(mesh, base_folder, data_folder);
    if (!status.ok()) return status;
  }
  return SceneSource(*std::move(scene));
}

std::vector<DrivenFrame> SceneSource::DrivenFrames() const {
  std::vector<DrivenFrame> frames;
  for (const v1::Body& body : scene_->bodies()) {
    if (const v1::Trajectory* trajectory = TrajectoryOf(body)) AddFrame(body.name(), "", *trajectory, &frames);
    for (const v1::BoundarySet& set : body.boundary_sets()) AddFrame(body.name(), set.name(), set.trajectory(), &frames);
  }
  return frames;
}

}  // namespace eipc::client
