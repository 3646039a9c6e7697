#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "sim/mesh/used_vertices.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/body_parts.h"

namespace eipc {
namespace {

// What an author calls the vertices of a sheet: their indices in the mesh, of which the sheet has only those that are used.
std::vector<int32_t> Authored(const std::vector<int32_t>& node_of_vertex, size_t nodes) {
  std::vector<int32_t> authored(nodes);
  for (size_t v = 0; v < node_of_vertex.size(); ++v) {
    if (node_of_vertex[v] >= 0) authored[node_of_vertex[v]] = static_cast<int32_t>(v);
  }
  return authored;
}

// Vertices at the same place: a seam that was not welded.
bool CheckSeams(const std::vector<Vec3>& x, const std::vector<int32_t>& authored, const std::string& path, Problems* problems) {
  std::map<std::array<double, 3>, size_t> first;
  for (size_t v = 0; v < x.size(); ++v) {
    const auto [at, is_new] = first.emplace(std::array<double, 3>{x[v][0], x[v][1], x[v][2]}, v);
    if (is_new) continue;
    problems->Add(path, "vertices ", authored[at->second], " and ", authored[v],
                  " are at the same place, so the sheet would be torn there; weld its seams");
    return false;
  }
  return true;
}

// Every edge has one triangle, or two that wind alike.
bool CheckEdges(const SurfaceMesh& mesh, const std::vector<int32_t>& authored, const std::string& path, Problems* problems) {
  std::map<Edge, std::vector<int32_t>> users;  // directed edges
  for (size_t t = 0; t < mesh.triangles().size(); ++t) {
    const Triangle& v = mesh.triangles()[t];
    for (int k = 0; k < 3; ++k) users[{v[k], v[(k + 1) % 3]}].push_back(static_cast<int32_t>(t));
  }
  for (const auto& [edge, along] : users) {
    const auto back = users.find({edge[1], edge[0]});
    const size_t against = back == users.end() ? 0 : back->second.size();
    if (along.size() + against > 2) {
      problems->Add(path, "edge (", authored[edge[0]], ", ", authored[edge[1]], ") belongs to ", along.size() + against,
                    " triangles; a shell has at most two at an edge: split it into shells that are joined");
      return false;
    }
    if (along.size() == 2) {
      problems->Add(path, "triangles ", along[0], " and ", along[1], " at edge (", authored[edge[0]], ", ", authored[edge[1]],
                    ") wind in opposite directions; orient the mesh consistently");
      return false;
    }
  }
  return true;
}

double MeanEdge(const SurfaceMesh& mesh) {
  double sum = 0;
  for (const Edge& e : mesh.edges()) sum += (mesh.vertices()[e[1]] - mesh.vertices()[e[0]]).norm();
  return sum / static_cast<double>(mesh.edges().size());
}

// The shape without stress: that of the mesh itself or of the rest mesh.
std::optional<SurfaceMesh> StressFree(const ShellSpec& shell, const SurfaceMesh& mesh, const std::string& path,
                                      Problems* problems) {
  if (!shell.rest_mesh) return mesh;
  const absl::StatusOr<SurfaceMesh> rest = SurfaceMeshOfUsed(*shell.rest_mesh);
  if (!rest.ok()) {
    problems->Add(path, rest.status().message());
    return std::nullopt;
  }
  if (rest->triangles() != mesh.triangles() || rest->vertices().size() != mesh.vertices().size()) {
    problems->Add(path, "must have the triangles of the mesh (", mesh.vertices().size(), " vertices, ", mesh.triangles().size(),
                  " triangles) and differ in positions only; it has ", rest->vertices().size(), " vertices, ",
                  rest->triangles().size(), " triangles");
    return std::nullopt;
  }
  return *rest;
}

// Of a sheet along a surface whose triangles have these masses, kg. Of one triangle of mass m with s = a + b + c: integral x = m s
// / 3 and integral x x^T = m (s s^T + a a^T + b b^T + c c^T) / 12.
MassProperties SheetMassProperties(const std::vector<Vec3>& vertices, const std::vector<Triangle>& triangles,
                                   const std::vector<double>& masses) {
  MassProperties result;
  if (triangles.empty()) return result;
  const Vec3& origin = vertices[triangles[0][0]];
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (size_t t = 0; t < triangles.size(); ++t) {
    Mat3 corners;
    for (int k = 0; k < 3; ++k) corners.col(k) = vertices[triangles[t][k]] - origin;
    const Vec3 s = corners.rowwise().sum();
    result.mass += masses[t];
    first += masses[t] / 3 * s;
    second += masses[t] / 12 * (s * s.transpose() + corners * corners.transpose());
  }
  if (!(result.mass > 0)) return {};
  const Vec3 center = first / result.mass;
  const Mat3 about_center = second - result.mass * center * center.transpose();
  result.center_of_mass = origin + center;
  result.inertia = about_center.trace() * Mat3::Identity() - about_center;
  return result;
}

// [X1 - X0, X2 - X0] in the plane of the triangle, its first axis along the first edge.
Mat2 RestEdges(const Vec3& x0, const Vec3& x1, const Vec3& x2) {
  const Vec3 e = x1 - x0, f = x2 - x0, along = e.normalized();
  const double across = (f - f.dot(along) * along).norm();
  Mat2 out;
  out << e.norm(), f.dot(along), 0, across;
  return out;
}

void AddTriangles(const SurfaceMesh& rest, const BodySpec& spec, const ShellConstants& constants, CompiledBody* out) {
  ShellBody& shell = out->shell.emplace();
  shell.triangles = rest.triangles();
  shell.membrane = constants.membrane;
  shell.bending_stiffness = constants.bending_stiffness_nm;
  shell.poissons_ratio = constants.poissons_ratio;
  shell.bending_form = spec.shell.bending_form;
  shell.rayleigh_alpha_per_s = spec.material.rayleigh_alpha_per_s;
  shell.rayleigh_beta_s = spec.material.rayleigh_beta_s;
  std::vector<double> masses;
  for (const Triangle& t : rest.triangles()) {
    const Mat2 edges = RestEdges(rest.vertices()[t[0]], rest.vertices()[t[1]], rest.vertices()[t[2]]);
    shell.inverse_rest.push_back(edges.inverse());
    shell.area.push_back(0.5 * edges.determinant());
    const double mass = constants.mass_per_area_kg_m2 * shell.area.back();
    masses.push_back(mass);
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) out->mass_entries.push_back({t[a], t[b], mass / (a == b ? 6 : 12)});
    }
  }
  out->mass = SheetMassProperties(out->surface_positions, out->triangles, masses);
  out->initial_pose = spec.pose;
  out->initial_pose.position = out->mass.center_of_mass;
}

// Stretches of the placed shape that its energy does not admit, or so close to its limit that Newton's method cannot leave it: the
// steps that rounding lets it see are as short as the room that is left.
void CheckStretches(const ShellBody& shell, const std::vector<Vec3>& placed, const std::string& path, Problems* problems) {
  constexpr double kLeastRoom = 1e-4;  // of what the limit leaves above 1
  const double limit = shell.membrane.strain_limit;
  if (!(limit > 1)) return;
  for (size_t t = 0; t < shell.triangles.size(); ++t) {
    const Triangle& v = shell.triangles[t];
    Mat32 edges;
    edges << placed[v[1]] - placed[v[0]], placed[v[2]] - placed[v[0]];
    const double stretch = Stretches(edges * shell.inverse_rest[t]).s[0];
    if (limit - stretch > kLeastRoom * (limit - 1)) continue;
    problems->Add(path, "triangle ", t, " is placed with a stretch of ", absl::StrFormat("%.8g", stretch),
                  stretch < limit ? ", too close to the strain limit " : ", beyond the strain limit ", limit,
                  "; place it closer to its rest mesh or raise strain_limit");
    return;
  }
}

void CheckNumber(bool good, double value, absl::string_view bound, const std::string& path, Problems* problems) {
  if (!good || !std::isfinite(value)) problems->Add(path, "must be ", bound, ", got ", value);
}

void CheckMembrane(const BodySpec& spec, const std::string& path, Problems* problems) {
  const ShellSpec& shell = spec.shell;
  const ShellConstants c = ConstantsOf(shell, spec.material);
  if (shell.membrane_mu_n_m.has_value() != shell.membrane_lambda_n_m.has_value()) {
    problems->Add(path + ".shell", "give both membrane_mu_n_m and membrane_lambda_n_m, or neither");
    return;
  }
  CheckNumber(shell.membrane_youngs_n_m >= 0, shell.membrane_youngs_n_m, ">= 0", path + ".shell.membrane_youngs_n_m", problems);
  if (shell.membrane_mu_n_m) {
    const double mu = *shell.membrane_mu_n_m, lambda = *shell.membrane_lambda_n_m;
    CheckNumber(mu > 0, mu, "> 0", path + ".shell.membrane_mu_n_m", problems);
    CheckNumber(lambda > -mu, lambda, absl::StrCat("> -membrane_mu_n_m (", -mu, ")"), path + ".shell.membrane_lambda_n_m",
                problems);
  } else if (!(c.youngs_n_m > 0)) {
    problems->Add(path + ".material.youngs_modulus_pa", "must be > 0, got ", spec.material.youngs_modulus_pa,
                  " (or give shell.membrane_youngs_n_m, or shell.membrane_mu_n_m and membrane_lambda_n_m, or a fabric)");
  }
  const double nu = spec.material.poissons_ratio;
  CheckNumber(nu > -1 && nu <= 0.5, nu, "in (-1, 0.5]", path + ".material.poissons_ratio", problems);
}

}  // namespace

void CheckShell(const BodySpec& spec, const std::string& path, Problems* problems) {
  const ShellSpec& shell = spec.shell;
  const std::string of = path + ".shell";
  if (!shell.fabric.empty() && FindFabric(shell.fabric) == nullptr) {
    std::string known;
    for (const Fabric& fabric : Fabrics()) absl::StrAppend(&known, known.empty() ? "" : ", ", fabric.name);
    problems->Add(of + ".fabric", "\"", shell.fabric, "\" is not known; known are ", known);
    return;
  }
  const ShellConstants c = ConstantsOf(shell, spec.material);
  CheckNumber(c.thickness_m > 0, c.thickness_m, "> 0", of + ".thickness_m", problems);
  CheckNumber(c.contact_thickness_m >= 0, c.contact_thickness_m, ">= 0", of + ".contact_thickness_m", problems);
  if (!(shell.mass_per_area_kg_m2 >= 0)) {
    CheckNumber(false, shell.mass_per_area_kg_m2, ">= 0", of + ".mass_per_area_kg_m2", problems);
  } else if (c.thickness_m > 0 && !(c.mass_per_area_kg_m2 > 0)) {
    problems->Add(path + ".material.density_kg_m3", "must be > 0, got ", spec.material.density_kg_m3,
                  " (or give shell.mass_per_area_kg_m2, or a fabric)");
  }
  if (c.thickness_m > 0) CheckMembrane(spec, path, problems);
  if (shell.bending_stiffness_nm) {
    CheckNumber(c.bending_stiffness_nm >= 0, c.bending_stiffness_nm, ">= 0", of + ".bending_stiffness_nm", problems);
  }
  const double limit = shell.strain_limit;
  CheckNumber(limit == 0 || limit > 1, limit, "> 1 (or 0: none)", of + ".strain_limit", problems);
  const double stiffness = shell.strain_limit_stiffness_n_m;
  CheckNumber(stiffness >= 0, stiffness, ">= 0", of + ".strain_limit_stiffness_n_m", problems);
  const double alpha = spec.material.rayleigh_alpha_per_s, beta = spec.material.rayleigh_beta_s;
  CheckNumber(alpha >= 0, alpha, ">= 0", path + ".material.rayleigh_alpha_per_s", problems);
  CheckNumber(beta >= 0, beta, ">= 0", path + ".material.rayleigh_beta_s", problems);
  if (spec.material.strain_damping_s != 0) {
    problems->Add(path + ".material.strain_damping_s", "is not available for shells; use rayleigh_beta_s");
  }
}

void CompileShell(const BodySpec& spec, const std::string& body_path, CompiledBody* out, Problems* problems) {
  const std::string path = MeshPath(spec, body_path);
  const ShellConstants constants = ConstantsOf(spec.shell, spec.material);
  if (!spec.mesh.tets.empty()) {
    problems->Add(path,
                  "a shell needs a mesh of triangles; this one has tetrahedra (use a full-space body, or give its surface alone)");
    return;
  }
  const absl::StatusOr<SurfaceMesh> mesh = SurfaceMeshOfUsed(spec.mesh);
  if (!mesh.ok()) {
    problems->Add(path, mesh.status().message());
    return;
  }
  WithoutUnusedVertices(spec.mesh, &out->node_of_vertex);
  const std::vector<int32_t> authored = Authored(out->node_of_vertex, mesh->vertices().size());
  if (!CheckSeams(mesh->vertices(), authored, path, problems) || !CheckEdges(*mesh, authored, path, problems)) return;
  const std::optional<SurfaceMesh> rest = StressFree(spec.shell, *mesh, body_path + ".shell.rest_mesh", problems);
  if (!rest) return;
  const double edge = MeanEdge(*rest), thickness = std::max(constants.thickness_m, constants.contact_thickness_m);
  if (thickness > edge) {
    const bool contact = constants.contact_thickness_m > constants.thickness_m;
    problems->Add(body_path + (contact ? ".shell.contact_thickness_m" : ".shell.thickness_m"), "is ", thickness,
                  " m, more than the edges of the mesh, ", edge, " m on average; make the mesh coarser or the sheet thinner");
    return;
  }
  out->node_authored = mesh->vertices();
  Place(mesh->vertices(), spec.pose, &out->node_positions);
  out->surface_positions = out->node_positions;
  out->triangles = mesh->triangles();
  out->stress_free = rest->vertices();
  std::vector<int32_t> nodes(mesh->vertices().size());
  for (size_t v = 0; v < nodes.size(); ++v) nodes[v] = static_cast<int32_t>(v);
  out->embedding = Embedding::Identity(nodes).rows();
  AddTriangles(*rest, spec, constants, out);
  CheckStretches(*out->shell, out->node_positions, path, problems);
}

}  // namespace eipc
