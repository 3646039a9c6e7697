#include "sim/robot/sdf_shapes.h"

#include <sdf/Box.hh>
#include <sdf/Capsule.hh>
#include <sdf/Collision.hh>
#include <sdf/Cylinder.hh>
#include <sdf/Ellipsoid.hh>
#include <sdf/Geometry.hh>
#include <sdf/Mesh.hh>
#include <sdf/Sphere.hh>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/robot/import_parts.h"

namespace eipc {
namespace {

using Shape = decltype(CollisionShape::shape);

class ShapeReader {
 public:
  ShapeReader(const SdfDocument& document, const PackageFolders& packages, std::vector<std::string>* problems)
      : document_(document), packages_(packages), problems_(*problems) {}

  CollisionShape Read(const sdf::Collision& from) {
    CollisionShape out;
    out.name = from.Name();
    ignition::math::Pose3d pose;
    for (const sdf::Error& error : from.SemanticPose().Resolve(pose)) {
      problems_.push_back(document_.Problem(error, from.Element()));
    }
    out.pose = SdfPose(pose);
    if (const sdf::Geometry* geometry = from.Geom(); geometry != nullptr) out.shape = ReadGeometry(*geometry, from.Element());
    return out;
  }

 private:
  template <typename... Parts>
  void Problem(const sdf::ElementPtr& element, const Parts&... what) {
    problems_.push_back(absl::StrCat(document_.Place(element), ": ", what...));
  }
  double Positive(const sdf::ElementPtr& element, const char* name, double value) {
    if (!(value > 0)) Problem(element, name, ": must be > 0, got ", value);
    return value;
  }
  Vec3 Positive(const sdf::ElementPtr& element, const char* name, const ignition::math::Vector3d& value) {
    if (!(value.Min() > 0)) Problem(element, name, ": must be > 0 in every direction");
    return SdfVec3(value);
  }

  Shape ReadGeometry(const sdf::Geometry& geometry, const sdf::ElementPtr& collision) {
    switch (geometry.Type()) {
      case sdf::GeometryType::BOX:
        return BoxShape{Positive(geometry.BoxShape()->Element(), "size", geometry.BoxShape()->Size())};
      case sdf::GeometryType::SPHERE:
        return SphereShape{Positive(geometry.SphereShape()->Element(), "radius", geometry.SphereShape()->Radius())};
      case sdf::GeometryType::CYLINDER: {
        const sdf::Cylinder& cylinder = *geometry.CylinderShape();
        return CylinderShape{Positive(cylinder.Element(), "radius", cylinder.Radius()),
                             Positive(cylinder.Element(), "length", cylinder.Length())};
      }
      case sdf::GeometryType::CAPSULE: {
        const sdf::Capsule& capsule = *geometry.CapsuleShape();
        return eipc::CapsuleShape{Positive(capsule.Element(), "radius", capsule.Radius()),
                                  Positive(capsule.Element(), "length", capsule.Length())};
      }
      case sdf::GeometryType::ELLIPSOID:
        return eipc::EllipsoidShape{Positive(geometry.EllipsoidShape()->Element(), "radii", geometry.EllipsoidShape()->Radii())};
      case sdf::GeometryType::MESH:
        return ReadMesh(*geometry.MeshShape());
      default:
        Problem(collision, "geometry: must hold one of <box>, <sphere>, <cylinder>, <capsule>, <ellipsoid> and <mesh>");
        return BoxShape{Vec3::Ones()};
    }
  }

  eipc::MeshShape ReadMesh(const sdf::Mesh& mesh) {
    const Vec3 scale = SdfVec3(mesh.Scale());
    if (scale.cwiseAbs().minCoeff() == 0) Problem(mesh.Element(), "scale: must not be 0 in any direction");
    if (!mesh.Submesh().empty())
      Problem(mesh.Element(), "submesh: parts of a mesh are not read; make \"", mesh.Submesh(), "\" a file");
    absl::StatusOr<eipc::MeshShape> read = ReadMeshShape(mesh.Uri(), scale, document_.FileOf(mesh.Element()), packages_);
    if (read.ok()) return *std::move(read);
    Problem(mesh.Element(), "uri: ", read.status().message());
    return {};
  }

  const SdfDocument& document_;
  const PackageFolders& packages_;
  std::vector<std::string>& problems_;
};

}  // namespace

Vec3 SdfVec3(const ignition::math::Vector3d& v) { return {v.X(), v.Y(), v.Z()}; }
Pose SdfPose(const ignition::math::Pose3d& pose) {
  return {SdfVec3(pose.Pos()), Quat(pose.Rot().W(), pose.Rot().X(), pose.Rot().Y(), pose.Rot().Z())};
}

std::vector<CollisionShape> ReadSdfShapes(const sdf::Link& link, const SdfDocument& document, const PackageFolders& packages,
                                          std::vector<std::string>* problems) {
  ShapeReader reader(document, packages, problems);
  std::vector<CollisionShape> shapes;
  for (uint64_t c = 0; c < link.CollisionCount(); ++c) {
    const sdf::Collision& collision = *link.CollisionByIndex(c);
    // What has an empty shape touches nothing.
    if (collision.Geom() != nullptr && collision.Geom()->Type() == sdf::GeometryType::EMPTY) continue;
    shapes.push_back(reader.Read(collision));
  }
  return shapes;
}

}  // namespace eipc
