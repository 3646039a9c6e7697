#include "server/convert/viewer_scene.h"

#include <vector>

#include "eipc/v1/viewer.pb.h"
#include "server/convert/array_convert.h"
#include "sim/base/utf8.h"

namespace eipc {
namespace {

// A row of an embedding in bytes: four nodes and four weights.
constexpr int64_t kRowBytes = 4 * (sizeof(int32_t) + sizeof(float));

template <typename T>
void RowsToProto(const std::vector<T>& values, int64_t width, v1::DataType type, v1::NdArray* out) {
  out->set_dtype(type);
  out->add_shape(static_cast<int64_t>(values.size()) / width);
  out->add_shape(width);
  out->set_data(values.data(), values.size() * sizeof(T));
}

// A vertex at a node has that node four times, with the weights 1, 0, 0, 0.
void MapToProto(const Model& model, const Body& body, v1::ViewerBody* out) {
  std::vector<int32_t> nodes;
  std::vector<float> weights;
  nodes.reserve(4 * body.vertices.size());
  weights.reserve(4 * body.vertices.size());
  for (int32_t vertex = body.vertices.begin; vertex < body.vertices.end; ++vertex) {
    const EmbeddingRow& row = model.embedding[vertex];
    for (int32_t k = 0; k < 4; ++k) {
      nodes.push_back(row.nodes[k < row.count ? k : 0] - body.nodes.begin);
      weights.push_back(k < row.count ? static_cast<float>(row.weights[k]) : 0.0F);
    }
  }
  RowsToProto(nodes, 4, v1::INT32, out->mutable_nodes());
  RowsToProto(weights, 4, v1::FLOAT32, out->mutable_weights());
}

void ElementsToProto(const Model& model, const Body& body, v1::ViewerBody* out) {
  for (const ElasticBody& elastic : model.elastic) {
    if (elastic.nodes.empty() || elastic.nodes[0][0] < body.nodes.begin || elastic.nodes[0][0] >= body.nodes.end) continue;
    std::vector<int32_t> corners;
    corners.reserve(4 * elastic.nodes.size());
    for (const Tet& tet : elastic.nodes) {
      for (int k = 0; k < 4; ++k) corners.push_back(tet[k] - body.nodes.begin);
    }
    RowsToProto(corners, 4, v1::INT32, out->mutable_elements());
    return;
  }
}

}  // namespace

int64_t ViewerSceneBytes(const Model& model) {
  constexpr int64_t kPerBody = 512, kPerFrame = 256;
  int64_t elements = 0;
  for (const ElasticBody& elastic : model.elastic) elements += static_cast<int64_t>(elastic.nodes.size());
  return kPerBody * static_cast<int64_t>(1 + model.bodies.size()) + kPerFrame * static_cast<int64_t>(model.boundary_sets.size()) +
         kRowBytes * model.surface.vertex_count +
         static_cast<int64_t>(model.surface.triangles.size()) * static_cast<int64_t>(sizeof(Triangle)) +
         elements * static_cast<int64_t>(sizeof(Tet));
}

void ViewerSceneToProto(const Model& model, v1::ViewerScene* out) {
  out->set_name(ToUtf8(model.name));
  out->set_dt_s(model.schedule_dt_s);
  for (const Body& body : model.bodies) {
    v1::ViewerBody& seen = *out->add_bodies();
    seen.set_name(ToUtf8(body.name));
    seen.set_kind(body.kind);
    TrianglesToProto(model.surface.triangles.data() + body.triangles.begin, body.triangles.size(), body.vertices.begin,
                     seen.mutable_triangles());
    if (!body.traits.moves) {
      PointsToProto(model.surface_offset.data() + body.vertices.begin, body.vertices.size(), true, seen.mutable_positions());
      continue;
    }
    MapToProto(model, body, &seen);
    ElementsToProto(model, body, &seen);
  }
  for (const BoundarySet& set : model.boundary_sets) {
    v1::ViewerFrameOfBody& frame = *out->add_frames();
    frame.set_body(ToUtf8(model.bodies[set.body].name));
    frame.set_boundary_set(ToUtf8(set.name));
    frame.set_slides(set.slides);
  }
  for (const Slider& slider : model.sliders) {
    v1::ViewerFrameOfBody& frame = *out->mutable_frames(slider.boundary_set);
    frame.set_max_force_n(slider.max_force_n);
    frame.set_takes_velocities(slider.damping_n_s_m > 0);
  }
}

}  // namespace eipc
