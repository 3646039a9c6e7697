#include "sim/scene/shells.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>
#include <string>
#include <utility>

#include "sim/collision/broad_phase.h"
#include "sim/collision/pair_dhat.h"
#include "sim/scene/check_name.h"

namespace eipc {
namespace {

// The model's node of a vertex of the mesh file, or -1 with a problem.
int32_t NodeOf(int32_t vertex, const SelectableMesh& mesh, const Model& model, const std::string& path, Problems* problems) {
  const int32_t count = static_cast<int32_t>(mesh.node_of_vertex.size());
  if (vertex < 0 || vertex >= count) {
    problems->Add(path, "index ", vertex, " is not one of the mesh's ", count, " vertices");
    return -1;
  }
  if (mesh.node_of_vertex[vertex] < 0) {
    problems->Add(path, "vertex ", vertex, " of the mesh belongs to no triangle");
    return -1;
  }
  return model.bodies[mesh.body].nodes.begin + mesh.node_of_vertex[vertex];
}

ShellMarks::Keypoint MakeKeypoint(const ShellSpec::Keypoint& spec, const SelectableMesh& mesh, const Model& model,
                                  const std::string& path, Problems* problems) {
  ShellMarks::Keypoint out = {spec.name, {}, spec.weights};
  if (spec.vertices.size() != 1 && spec.vertices.size() != 3) {
    problems->Add(path + ".vertices", "must be one vertex or three, got ", spec.vertices.size());
    return out;
  }
  for (const int32_t v : spec.vertices) out.nodes.push_back(NodeOf(v, mesh, model, path + ".vertices", problems));
  if (out.weights.empty()) out.weights.assign(out.nodes.size(), 1.0 / static_cast<double>(out.nodes.size()));
  double sum = 0;
  for (const double w : out.weights) sum += w;
  if (out.weights.size() != out.nodes.size() || !(std::abs(sum - 1) <= 1e-9)) {
    problems->Add(path + ".weights", "must be ", out.nodes.size(), " numbers that sum to 1");
  }
  return out;
}

// Vertices of the sheet whose distance along its edges from `from`, in the shape without stress, is at most `limit`.
class NearSearch {
 public:
  NearSearch(const CollisionSurface& surface, IndexRange vertices)
      : x_(surface.StressFree()), first_(vertices.begin), links_(vertices.size()) {
    for (const Edge& e : surface.edges) {
      if (e[0] < vertices.begin || e[0] >= vertices.end) continue;
      const double length = (x_[e[1]] - x_[e[0]]).norm();
      for (int k = 0; k < 2; ++k) {
        links_[e[k] - first_].push_back({e[1 - k], length});
        longest_ = std::max(longest_, length);
      }
    }
    distance_.assign(links_.size(), kFar);
  }
  double longest_edge() const { return longest_; }

  std::vector<int32_t> Find(int32_t from, double limit) {
    std::priority_queue<std::pair<double, int32_t>, std::vector<std::pair<double, int32_t>>, std::greater<>> open;
    std::vector<int32_t> found;
    Reach(from, 0, &open, &found);
    while (!open.empty()) {
      const auto [distance, v] = open.top();
      open.pop();
      if (distance > distance_[v - first_]) continue;
      for (const Link& link : links_[v - first_]) {
        if (distance + link.length <= limit) Reach(link.to, distance + link.length, &open, &found);
      }
    }
    for (const int32_t v : found) distance_[v - first_] = kFar;
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

 private:
  struct Link {
    int32_t to;
    double length;
  };
  static constexpr double kFar = 1e300;

  template <typename Queue>
  void Reach(int32_t v, double distance, Queue* open, std::vector<int32_t>* found) {
    if (!(distance < distance_[v - first_])) return;
    distance_[v - first_] = distance;
    open->push({distance, v});
    found->push_back(v);
  }

  const std::vector<Vec3>& x_;
  int32_t first_;
  std::vector<std::vector<Link>> links_;
  std::vector<double> distance_;  // along edges, m
  double longest_ = 0;
};

// Two features that are within their reach along the sheet have vertices within this distance along its edges of each other: twice
// the reach, at which the distance at rest begins to count, is half as long again along edges as straight, and the features'
// vertices are an edge away.
//
// False: these are too many, because some edge, or dhat, is very long beside the other edges.
bool FindNearVertices(double dhat, const Model& model, CollisionSurface* s, Interrupt* interrupt) {
  constexpr double kDetour = 1.5;
  constexpr size_t kMostPerVertex = 256, kMostAnyway = size_t{1} << 24;
  const size_t most = std::max(kMostAnyway, kMostPerVertex * s->rest_positions.size());
  SheetSpacing& sheets = s->sheets;
  sheets.near_start.assign(1, 0);
  for (const Body& body : model.bodies) {
    if (!body.traits.thin) {
      sheets.near_start.resize(sheets.near_start.size() + static_cast<size_t>(body.vertices.size()), sheets.near_start.back());
      continue;
    }
    NearSearch search(*s, body.vertices);
    const int32_t index = s->vertex_body[body.vertices.begin];
    const double limit = kDetour * (dhat + s->Offset(index, index)) / kSelfContactShare + 2 * search.longest_edge();
    for (int32_t v = body.vertices.begin; v < body.vertices.end && !Raised(interrupt); ++v) {
      const std::vector<int32_t> near = search.Find(v, limit);
      if (sheets.near_vertices.size() + near.size() > most) return false;
      sheets.near_vertices.insert(sheets.near_vertices.end(), near.begin(), near.end());
      sheets.near_start.push_back(static_cast<int64_t>(sheets.near_vertices.size()));
    }
  }
  return true;
}

// What an author calls a vertex of the collision surface: its index in the mesh of a sheet, of which only those used are there.
int64_t AuthoredVertex(const Model& model, const std::vector<SelectableMesh>& meshes, int32_t vertex) {
  const int32_t body = model.surface.vertex_body[vertex], own = vertex - model.bodies[body].vertices.begin;
  if (!model.bodies[body].traits.thin) return own;
  const std::vector<int32_t>& node_of_vertex = meshes[body].node_of_vertex;
  return std::find(node_of_vertex.begin(), node_of_vertex.end(), own) - node_of_vertex.begin();
}

}  // namespace

void AddShell(const BodySpec& spec, const SelectableMesh& mesh, ShellBody shell, const std::string& path, Model* model,
              Problems* problems) {
  shell.body = mesh.body;
  for (Triangle& t : shell.triangles) {
    for (int32_t& node : t) node += model->bodies[mesh.body].nodes.begin;
  }
  model->shells.push_back(std::move(shell));
  ShellMarks& marks = model->shell_marks.emplace_back();
  const std::string of = path + ".shell";
  std::set<std::string> keypoints, openings;  // observations name them
  for (size_t k = 0; k < spec.shell.keypoints.size(); ++k) {
    const std::string at = absl::StrCat(of, ".keypoints[", k, "]");
    CheckUniqueName(spec.shell.keypoints[k].name, "keypoint", at + ".name", &keypoints, problems);
    marks.keypoints.push_back(MakeKeypoint(spec.shell.keypoints[k], mesh, *model, at, problems));
  }
  for (size_t k = 0; k < spec.shell.openings.size(); ++k) {
    const ShellSpec::Opening& opening = spec.shell.openings[k];
    const std::string at = absl::StrCat(of, ".openings[", k, "]");
    marks.openings.push_back({opening.name, {}});
    CheckUniqueName(opening.name, "opening", at + ".name", &openings, problems);
    if (opening.vertices.size() < 3) problems->Add(at + ".vertices", "must be at least three, got ", opening.vertices.size());
    for (const int32_t v : opening.vertices) {
      marks.openings.back().nodes.push_back(NodeOf(v, mesh, *model, at + ".vertices", problems));
    }
  }
  for (size_t k = 0; k < spec.shell.fold_pairs.size(); ++k) {
    const auto& [vertex, onto] = spec.shell.fold_pairs[k];
    const std::string at = absl::StrCat(of, ".fold_pairs[", k, "]");
    marks.fold_pairs.emplace_back(NodeOf(vertex, mesh, *model, at + ".vertex", problems),
                                  NodeOf(onto, mesh, *model, at + ".onto", problems));
  }
}

void AddBending(const std::vector<BodySpec>& bodies, const std::vector<std::vector<Vec3>>& stress_free, Model* model) {
  for (ShellBody& shell : model->shells) {
    const IndexRange& nodes = model->bodies[shell.body].nodes;
    std::vector<uint8_t> held(nodes.size(), 0);
    for (const BoundarySet& set : model->boundary_sets) {
      if (set.body != shell.body) continue;
      for (const int32_t node : set.nodes) held[node - nodes.begin] = 1;
    }
    SetBending(stress_free[shell.body], nodes.begin, held, bodies[shell.body].shell.flat_rest_angles, &shell);
  }
}

void MarkThinSurfaces(const SceneSpec& spec, const std::vector<std::vector<Vec3>>& stress_free, Model* model, Problems* problems,
                      Interrupt* interrupt) {
  if (model->shells.empty()) return;
  CollisionSurface& surface = model->surface;
  SheetSpacing& sheets = surface.sheets;
  sheets.stress_free = surface.rest_positions;
  double thickest = 0;
  for (size_t b = 0; b < model->bodies.size(); ++b) {
    const Body& body = model->bodies[b];
    const BodySpec& from = spec.bodies[b];
    sheets.body_thin.push_back(body.traits.thin);
    sheets.body_half_thickness.push_back(body.traits.thin ? 0.5 * ConstantsOf(from.shell, from.material).contact_thickness_m : 0);
    thickest = std::max(thickest, sheets.body_half_thickness.back());
    std::copy(stress_free[b].begin(), stress_free[b].end(), sheets.stress_free.begin() + body.vertices.begin);
  }
  sheets.largest_offset = 2 * thickest;
  if (FindNearVertices(spec.contact.dhat_m, *model, &surface, interrupt)) return;
  problems->Add("bodies", "a shell has too many pairs of vertices that contact has to distinguish, because its longest edge, or ",
                "contact.dhat_m (", spec.contact.dhat_m,
                "), is many times as long as its other edges; make its edges more equal, or ", "dhat_m smaller");
}

void CheckSeparation(const Model& model, const std::vector<SelectableMesh>& meshes, Problems* problems, Interrupt* interrupt) {
  constexpr int kMost = 16;
  const CollisionSurface& s = model.surface;
  if (!(s.sheets.largest_offset > 0)) return;
  VecX q(3 * model.node_count);
  for (int32_t i = 0; i < model.node_count; ++i) q.segment<3>(3 * i) = model.initial_positions[i];
  BroadPhase broad_phase(&s, &model.summaries, &model.embedding, &model.surface_offset, model.contact.dhat_m, {interrupt});
  broad_phase.UpdateBounds(q, q, 0);
  if (Raised(interrupt)) return;
  int found = 0;
  for (const Candidate& c : broad_phase.candidates()) {
    const double distance = std::sqrt(PairClosest(c.kind, c.v, s.rest_positions).distance2);
    if (!(c.offset > 0) || distance > c.offset || ++found > kMost) continue;
    const int32_t a = s.vertex_body[c.v[0]], b = s.vertex_body[c.v[2]];
    problems->Add("bodies", "bodies[", a, "] \"", model.bodies[a].name, "\" at vertex ", AuthoredVertex(model, meshes, c.v[0]),
                  " and bodies[", b, "] \"", model.bodies[b].name, "\" at vertex ", AuthoredVertex(model, meshes, c.v[2]),
                  " start ", distance, " m apart; the thickness of shells needs more than ", c.offset,
                  " m; move them apart or lower shell.contact_thickness_m");
  }
  if (found > kMost) problems->Add("bodies", found, " pairs of features start too close in all; the first ", kMost, " are listed");
}

}  // namespace eipc
