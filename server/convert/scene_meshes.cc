#include "server/convert/scene_meshes.h"

#include "absl/strings/str_cat.h"
#include "eipc/v1/scene.pb.h"

namespace eipc {
namespace {

template <typename Row>
void RowsToProto(const std::vector<Row>& rows, v1::DataType dtype, int width, v1::NdArray* out) {
  out->set_dtype(dtype);
  out->add_shape(static_cast<int64_t>(rows.size()));
  out->add_shape(width);
  out->set_data(std::string(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(Row)));
}

}  // namespace

void ForEachMesh(v1::Scene* scene, const std::function<void(v1::Mesh*, const std::string& path)>& visit) {
  for (int i = 0; i < scene->bodies_size(); ++i) {
    v1::Body& body = *scene->mutable_bodies(i);
    const std::string path = absl::StrCat("bodies[", i, "]");
    switch (body.kind_case()) {
      case v1::Body::kFullSpace:
        visit(body.mutable_full_space()->mutable_mesh(), path + ".full_space.mesh");
        break;
      case v1::Body::kEmbedded:
        visit(body.mutable_embedded()->mutable_surface(), path + ".embedded.surface");
        if (body.embedded().has_cage_mesh()) visit(body.mutable_embedded()->mutable_cage_mesh(), path + ".embedded.cage_mesh");
        break;
      case v1::Body::kAffine:
        visit(body.mutable_affine()->mutable_surface(), path + ".affine.surface");
        break;
      case v1::Body::kKinematic:
        visit(body.mutable_kinematic()->mutable_surface(), path + ".kinematic.surface");
        break;
      case v1::Body::kStaticBody:
        visit(body.mutable_static_body()->mutable_surface(), path + ".static_body.surface");
        break;
      case v1::Body::KIND_NOT_SET:
        break;
    }
  }
}

void MeshToProto(const MeshData& data, v1::Mesh* mesh) {
  mesh->Clear();
  v1::MeshArrays& arrays = *mesh->mutable_arrays();
  RowsToProto(data.vertices, v1::FLOAT64, 3, arrays.mutable_vertices());
  if (data.tets.empty()) {
    RowsToProto(data.triangles, v1::INT32, 3, arrays.mutable_cells());
  } else {
    RowsToProto(data.tets, v1::INT32, 4, arrays.mutable_cells());
  }
}

}  // namespace eipc
