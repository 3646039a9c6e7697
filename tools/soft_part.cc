#include "tools/soft_part.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "server/convert/geometry_convert.h"
#include "sim/base/status_macros.h"
#include "sim/geometry/distance.h"
#include "sim/mesh/read_mesh.h"
#include "sim/robot/kinematics.h"
#include "sim/scene/problems.h"
#include "tools/robot_parts.h"

namespace eipc {
namespace {

constexpr double kMostCells = 1e5;

// The values of one soft part, by key; each is taken once.
class Keys {
 public:
  static absl::StatusOr<Keys> Parse(const std::string& text) {
    const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
    Keys keys;
    for (const std::string& word : words) {
      const size_t equals = word.find('=');
      if (&word == &words[0] && equals == std::string::npos) {
        keys.name_ = word;
        continue;
      }
      if (equals == 0 || equals == std::string::npos) return keys.Bad(absl::StrCat(word, ": must be KEY=VALUE"));
      if (!keys.values_.emplace(word.substr(0, equals), word.substr(equals + 1)).second) {
        return keys.Bad(absl::StrCat(word, ": is given twice"));
      }
    }
    if (keys.name_.empty()) return keys.Bad("must begin with a name");
    return keys;
  }

  absl::Status Bad(const std::string& what) const { return absl::InvalidArgumentError(absl::StrCat("--soft ", name_, " ", what)); }
  const std::string& name() const { return name_; }
  bool Has(const std::string& key) const { return values_.count(key) > 0; }
  std::string Take(const std::string& key) {
    const std::string value = Has(key) ? values_[key] : "";
    values_.erase(key);
    return value;
  }
  // Comma-separated; nothing when the key is not there.
  absl::StatusOr<std::vector<double>> TakeNumbers(const std::string& key, size_t count) {
    std::vector<double> numbers;
    if (!Has(key)) return numbers;
    const std::string text = Take(key);
    for (const std::string& word : std::vector<std::string>(absl::StrSplit(text, ','))) {
      double value;
      if (!absl::SimpleAtod(word, &value) || !std::isfinite(value)) {
        return Bad(absl::StrCat(key, "=", text, ": \"", word, "\" is not a finite number"));
      }
      numbers.push_back(value);
    }
    if (numbers.size() == count) return numbers;
    return Bad(absl::StrCat(key, "=", text, ": needs ", count, " numbers with commas between"));
  }
  absl::Status TakeNumber(const std::string& key, double* value) {
    EIPC_ASSIGN_OR_RETURN(const std::vector<double> numbers, TakeNumbers(key, 1));
    if (!numbers.empty()) *value = numbers[0];
    return absl::OkStatus();
  }
  absl::Status NothingLeft() const {
    if (values_.empty()) return absl::OkStatus();
    return Bad(absl::StrCat(values_.begin()->first,
                            ": is no key; there are: link, mesh, scale, block, cells, at, rpy, young, poisson, density, damping, "
                            "box, within"));
  }

 private:
  std::string name_;
  std::map<std::string, std::string> values_;
};

// A block around the origin, each cell cut into the six tetrahedra around its diagonal.
MeshData Block(const Vec3& size, const std::array<int, 3>& cells) {
  constexpr int kTets[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
  MeshData mesh;
  const auto index = [&](int x, int y, int z) { return (z * (cells[1] + 1) + y) * (cells[0] + 1) + x; };
  for (int z = 0; z <= cells[2]; ++z) {
    for (int y = 0; y <= cells[1]; ++y) {
      for (int x = 0; x <= cells[0]; ++x) {
        const Vec3 part(double(x) / cells[0] - 0.5, double(y) / cells[1] - 0.5, double(z) / cells[2] - 0.5);
        mesh.vertices.push_back(part.cwiseProduct(size));
      }
    }
  }
  for (int z = 0; z < cells[2]; ++z) {
    for (int y = 0; y < cells[1]; ++y) {
      for (int x = 0; x < cells[0]; ++x) {
        for (const auto& tet : kTets) {
          Tet& out = mesh.tets.emplace_back();
          for (int c = 0; c < 4; ++c) out[c] = index(x + (tet[c] & 1), y + (tet[c] >> 1 & 1), z + (tet[c] >> 2));
        }
      }
    }
  }
  return mesh;
}

absl::StatusOr<MeshData> TakeBlock(Keys* keys) {
  EIPC_ASSIGN_OR_RETURN(const std::vector<double> size, keys->TakeNumbers("block", 3));
  EIPC_ASSIGN_OR_RETURN(std::vector<double> cells, keys->TakeNumbers("cells", 3));
  const double least = *std::min_element(size.begin(), size.end());
  if (!(least > 0)) return keys->Bad("block: its sizes must be > 0");
  if (cells.empty()) {
    for (const double edge : size) cells.push_back(std::ceil(2 * edge / least));
  }
  const bool whole = std::all_of(cells.begin(), cells.end(), [](double n) { return n >= 1 && n == std::floor(n); });
  if (!whole) return keys->Bad("cells: must be whole numbers >= 1");
  if (cells[0] * cells[1] * cells[2] > kMostCells) return keys->Bad(absl::StrCat("cells: at most ", kMostCells, " in all"));
  return Block(Vec3(size[0], size[1], size[2]), {int(cells[0]), int(cells[1]), int(cells[2])});
}

absl::StatusOr<MeshData> TakeMesh(Keys* keys) {
  if (keys->Has("mesh") == keys->Has("block")) return keys->Bad("needs mesh=FILE or block=X,Y,Z");
  if (keys->Has("block")) return TakeBlock(keys);
  const std::string file = keys->Take("mesh");
  absl::StatusOr<MeshData> mesh = ReadMesh(file);
  if (!mesh.ok())
    return absl::Status(mesh.status().code(), absl::StrCat("--soft ", keys->name(), " mesh: ", mesh.status().message()));
  if (mesh->tets.empty()) return keys->Bad(absl::StrCat("mesh: ", file, " has no tetrahedra; a soft part is made of them"));
  mesh->triangles.clear();
  EIPC_ASSIGN_OR_RETURN(const std::vector<double> scale, keys->TakeNumbers("scale", 1));
  if (scale.empty()) return mesh;
  if (!(scale[0] > 0)) return keys->Bad("scale: must be > 0");
  for (Vec3& p : mesh->vertices) p *= scale[0];
  return mesh;
}

absl::Status TakeRegion(Keys* keys, SoftPart* part) {
  EIPC_ASSIGN_OR_RETURN(const std::vector<double> box, keys->TakeNumbers("box", 6));
  EIPC_ASSIGN_OR_RETURN(const std::vector<double> within, keys->TakeNumbers("within", 1));
  if (box.empty() && within.empty()) return keys->Bad("needs box=X0,Y0,Z0,X1,Y1,Z1 or within=DISTANCE: what the link holds");
  if (!box.empty()) part->box = {Vec3(box[0], box[1], box[2]), Vec3(box[3], box[4], box[5])};
  if (within.empty()) return absl::OkStatus();
  if (!(within[0] >= 0)) return keys->Bad("within: must be >= 0");
  part->within_m = within[0];
  return absl::OkStatus();
}

using Corners = std::array<Vec3, 3>;

// Distance to a closed surface, m; 0 inside, where it winds around the point (the solid angle of its triangles).
double DistanceTo(const std::vector<Corners>& surface, const Vec3& p) {
  double nearest2 = std::numeric_limits<double>::infinity(), angle = 0;
  for (const Corners& t : surface) {
    nearest2 = std::min(nearest2, PointTriangleClosest(p, t[0], t[1], t[2]).distance2);
    const Vec3 a = t[0] - p, b = t[1] - p, c = t[2] - p;
    const double x = a.norm(), y = b.norm(), z = c.norm();
    angle += 2 * std::atan2(a.dot(b.cross(c)), x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y);
  }
  return angle > 2 * M_PI ? 0 : std::sqrt(nearest2);
}

class SoftMaker {
 public:
  SoftMaker(const Robot& robot, const RobotSceneOptions& options, std::vector<RobotPart> rigid, RobotScene* made)
      : robot_(robot),
        options_(options),
        rigid_(std::move(rigid)),
        made_(*made),
        poses_(LinkPoses(robot, options.base, options.coordinates)) {}

  absl::Status Add(const SoftPart& part) {
    const auto bad = [&](const auto&... what) {
      return absl::InvalidArgumentError(absl::StrCat("--soft ", part.name, " ", what...));
    };
    const auto named = [&](const Link& link) { return link.name == part.link; };
    const auto link = std::find_if(robot_.links.begin(), robot_.links.end(), named);
    if (link == robot_.links.end()) {
      const auto add_name = [](std::string* out, const Link& known) { out->append(known.name); };
      return bad("link=", part.link, ": there is no such link; there are: ", absl::StrJoin(robot_.links, ", ", add_name));
    }
    const auto l = static_cast<int32_t>(link - robot_.links.begin());
    const std::vector<std::string> holders = BodiesOf({l});
    if (holders.empty()) return bad("link=", part.link, ": has no collision shape to hold it");
    for (const v1::Body& body : made_.scene.bodies()) {
      if (body.name() == part.name) return bad("has the name of another body; choose another one");
    }
    const Pose pose = poses_[l] * part.pose;
    double nearest = 0;
    const std::vector<int32_t> held = Held(part, pose, SurfaceOf(holders), &nearest);
    if (held.empty()) {
      return part.within_m ? bad("within=", *part.within_m,
                                 ": no vertex is that near to the link (and in the box); the nearest is ", nearest, " m away")
                           : bad("box: has no vertex in it");
    }
    AddBody(part, pose);
    AddHold(part, held, holders[0]);
    for (const RobotPart& rigid : rigid_) {
      if (std::count(rigid.links.begin(), rigid.links.end(), l) > 0) AddContactPairs(part.name, BodiesOf(rigid.links));
    }
    made_.notes.push_back(absl::StrCat("soft part \"", part.name, "\": link \"", part.link, "\" holds ", held.size(), " of its ",
                                       part.mesh.vertices.size(), " vertices"));
    return absl::OkStatus();
  }

 private:
  std::vector<std::string> BodiesOf(const std::vector<int32_t>& links) const {
    std::vector<std::string> names;
    for (const int32_t l : links) {
      for (const v1::LinkBody& body : made_.scene.robots(0).links(l).bodies()) names.push_back(body.body());
    }
    return names;
  }

  // In the world.
  std::vector<Corners> SurfaceOf(const std::vector<std::string>& bodies) const {
    std::vector<Corners> surface;
    for (const v1::Body& body : made_.scene.bodies()) {
      if (std::count(bodies.begin(), bodies.end(), body.name()) == 0) continue;
      Problems none;
      const Pose pose = PoseFromProto(body.pose(), "", &none);
      const auto mesh =
          std::find_if(made_.meshes.begin(), made_.meshes.end(), [&](const auto& m) { return m.body == body.name(); });
      for (const auto& [a, b, c] : mesh->mesh.triangles) {
        const std::vector<Vec3>& v = mesh->mesh.vertices;
        surface.push_back({pose.Apply(v[a]), pose.Apply(v[b]), pose.Apply(v[c])});
      }
    }
    return surface;
  }

  static std::vector<int32_t> Held(const SoftPart& part, const Pose& pose, const std::vector<Corners>& link, double* nearest) {
    *nearest = std::numeric_limits<double>::infinity();
    std::vector<int32_t> held;
    for (size_t v = 0; v < part.mesh.vertices.size(); ++v) {
      const Vec3& p = part.mesh.vertices[v];
      if (part.box && ((p - part.box->first).minCoeff() < 0 || (part.box->second - p).minCoeff() < 0)) continue;
      const double distance = part.within_m ? DistanceTo(link, pose.Apply(p)) : 0;
      *nearest = std::min(*nearest, distance);
      if (distance <= part.within_m.value_or(0)) held.push_back(static_cast<int32_t>(v));
    }
    return held;
  }

  void AddBody(const SoftPart& part, const Pose& pose) {
    v1::Body& body = *made_.scene.add_bodies();
    body.set_name(part.name);
    PoseToProto(pose, body.mutable_pose());
    const std::string file = MeshFileName(made_, part.name, ".vtk");
    body.mutable_full_space()->mutable_mesh()->set_file(absl::StrCat(options_.mesh_folder, "/", file));
    v1::Material& material = *body.mutable_material();
    material.set_youngs_modulus_pa(part.youngs_modulus_pa);
    material.set_poissons_ratio(part.poissons_ratio);
    material.set_density_kg_m3(part.density_kg_m3);
    material.set_strain_damping_s(part.strain_damping_s);
    made_.meshes.push_back({file, part.name, part.mesh});
  }

  void AddHold(const SoftPart& part, const std::vector<int32_t>& held, const std::string& holder) {
    v1::Joint& joint = *made_.scene.add_joints();
    joint.set_name(absl::StrCat(part.name, "_held"));
    joint.set_body_a(part.name);
    joint.set_body_b(holder);
    for (const int32_t v : held) joint.mutable_attachment()->add_vertices(v);
  }

  void AddContactPairs(const std::string& name, const std::vector<std::string>& bodies) {
    for (const std::string& body : bodies) {
      v1::ContactPair& pair = *made_.scene.add_contact_pairs();
      pair.set_body_a(name);
      pair.set_body_b(body);
      pair.set_enabled(false);
    }
  }

  const Robot& robot_;
  const RobotSceneOptions& options_;
  std::vector<RobotPart> rigid_;
  RobotScene& made_;
  std::vector<Pose> poses_;  // of links
};

}  // namespace

absl::StatusOr<SoftPart> ParseSoftPart(const std::string& text) {
  EIPC_ASSIGN_OR_RETURN(Keys keys, Keys::Parse(text));
  SoftPart part;
  part.name = keys.name();
  part.link = keys.Take("link");
  if (part.link.empty()) return keys.Bad("needs link=LINK");
  EIPC_ASSIGN_OR_RETURN(part.mesh, TakeMesh(&keys));
  EIPC_ASSIGN_OR_RETURN(const std::vector<double> at, keys.TakeNumbers("at", 3));
  if (!at.empty()) part.pose.position = Vec3(at[0], at[1], at[2]);
  EIPC_ASSIGN_OR_RETURN(const std::vector<double> rpy, keys.TakeNumbers("rpy", 3));
  if (!rpy.empty()) {
    part.pose.rotation = Eigen::AngleAxisd(rpy[2], Vec3::UnitZ()) * Eigen::AngleAxisd(rpy[1], Vec3::UnitY()) *
                         Eigen::AngleAxisd(rpy[0], Vec3::UnitX());
  }
  EIPC_RETURN_IF_ERROR(keys.TakeNumber("young", &part.youngs_modulus_pa));
  EIPC_RETURN_IF_ERROR(keys.TakeNumber("poisson", &part.poissons_ratio));
  EIPC_RETURN_IF_ERROR(keys.TakeNumber("density", &part.density_kg_m3));
  EIPC_RETURN_IF_ERROR(keys.TakeNumber("damping", &part.strain_damping_s));
  EIPC_RETURN_IF_ERROR(TakeRegion(&keys, &part));
  EIPC_RETURN_IF_ERROR(keys.NothingLeft());
  const bool material = part.youngs_modulus_pa > 0 && part.density_kg_m3 > 0 && part.strain_damping_s >= 0;
  if (!material) return keys.Bad("young and density must be > 0, and damping >= 0");
  if (!(part.poissons_ratio >= 0 && part.poissons_ratio < 0.5)) return keys.Bad("poisson: must be in [0, 0.5)");
  return part;
}

absl::Status AddSoftParts(const Robot& robot, const RobotSceneOptions& options, const std::vector<SoftPart>& parts,
                          RobotScene* made) {
  EIPC_ASSIGN_OR_RETURN(std::vector<RobotPart> rigid, RobotParts(robot, options.dynamic));
  SoftMaker maker(robot, options, std::move(rigid), made);
  for (const SoftPart& part : parts) EIPC_RETURN_IF_ERROR(maker.Add(part));
  return absl::OkStatus();
}

}  // namespace eipc
