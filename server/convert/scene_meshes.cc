#include "server/convert/scene_meshes.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "absl/strings/str_cat.h"
#include "eipc/v1/scene.pb.h"

namespace eipc {
namespace {

using google::protobuf::FieldDescriptor;

template <typename Row>
void RowsToProto(const std::vector<Row>& rows, v1::DataType dtype, int width, v1::NdArray* out) {
  out->set_dtype(dtype);
  out->add_shape(static_cast<int64_t>(rows.size()));
  out->add_shape(width);
  out->set_data(std::string(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(Row)));
}

}  // namespace

void ForEachMesh(v1::Scene* scene, const std::function<void(v1::Mesh*, const std::string& path)>& visit) {
  const google::protobuf::OneofDescriptor* kinds = v1::Body::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < scene->bodies_size(); ++i) {
    v1::Body& body = *scene->mutable_bodies(i);
    const FieldDescriptor* kind_field = body.GetReflection()->GetOneofFieldDescriptor(body, kinds);
    if (kind_field == nullptr) continue;
    google::protobuf::Message* kind = body.GetReflection()->MutableMessage(&body, kind_field);
    const std::string path = absl::StrCat("bodies[", i, "].", kind_field->name(), ".");
    for (int f = 0; f < kind->GetDescriptor()->field_count(); ++f) {
      const FieldDescriptor* field = kind->GetDescriptor()->field(f);
      if (field->message_type() != v1::Mesh::descriptor()) continue;
      // What is optional, or one of alternatives, where it is there.
      if (!kind->GetReflection()->HasField(*kind, field)) continue;
      auto* mesh = google::protobuf::DynamicCastToGenerated<v1::Mesh>(kind->GetReflection()->MutableMessage(kind, field));
      visit(mesh, path + field->name());
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
