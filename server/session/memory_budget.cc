#include "server/session/memory_budget.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/dynamics/model.h"
#include "sim/mesh/condensed_stiffness.h"
#include "sim/meshing/condense.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/coarse_space.h"
#include "sim/scene/scene_spec.h"
#include "sim/scene/sliders.h"
#include "sim/solver/linear_solvers.h"

namespace eipc {

namespace {

constexpr double kPerElement = 1280;  // its strains, forces and Hessian, and the one that is held

// Vectors, the matrix, and its factor, which fills by the 4/3 power of the nodes where they fill a volume (nested dissection).
double NodeBytes(double nodes) {
  constexpr double kPerNode = 7 << 10, kFill = 700;
  return nodes * (kPerNode + kFill * std::cbrt(nodes));
}

// The matrix couples every node of a slider with every other, and an incomplete factor keeps a list of the products of its
// blocks, which takes twice its size while it grows.
double SliderBytes(double nodes, LinearSolverKind solver) {
  constexpr double kPerPair = 300, kPerProduct = 5;
  return nodes * nodes * (kPerPair + (solver == LinearSolverKind::kPcgIc0 ? kPerProduct * nodes : 0));
}

// A joint couples every two of its nodes, those of an attachment by vertex; once in its term, once in the matrix.
double JointBytes(const Joint& joint) {
  constexpr double kPerPair = 300, kPerJoint = 1 << 10;
  double pairs = 0;
  for (const Tie& tie : joint.ties) pairs += 0.5 * static_cast<double>(tie.gap.nodes.size() * (tie.gap.nodes.size() + 1));
  if (joint.coordinate)
    pairs += 0.5 * static_cast<double>(joint.coordinate->nodes().size() * (joint.coordinate->nodes().size() + 1));
  // What follows another joint is coupled with all four bodies.
  if (joint.mimic) pairs += 2 * static_cast<double>(joint.coordinate->nodes().size() * (2 * joint.coordinate->nodes().size() + 1));
  return kPerJoint + kPerPair * pairs;
}

// The tree and boxes of a triangle, and what the search keeps of the pairs it may have with those within the displacement of a
// step of a fast motion: 1 m/s times 10 ms. Contact that acts over many edges has as many pairs of features in reach.
double SurfaceBytes(const Model& model) {
  constexpr double kPerVertex = 512, kPerTriangle = 1 << 10, kPerPair = 4, kDisplacement = 0.01, kMostPairs = 64, kPerInReach = 100,
                   kManyEdges = 8;
  const auto all = static_cast<double>(model.surface.triangles.size());
  double bytes = kPerVertex * model.surface.vertex_count;
  for (size_t body = 0; body < model.bodies.size(); ++body) {
    const double edge = model.summaries.edge_length[body];
    const double pairs = edge > 0 ? std::min(kMostPairs, kDisplacement * kDisplacement / (edge * edge)) : 0;
    const double reach = edge > 0 ? model.contact.dhat_m / edge : 0;
    const double in_reach = reach > kManyEdges ? std::min(all, reach * reach) : 0;
    bytes += model.bodies[body].triangles.size() * (kPerTriangle + kPerPair * pairs + kPerInReach * in_reach);
  }
  return bytes;
}

// At most, of nodes that the set may have; one with more is refused.
double SliderNodes(const BoundarySetSpec& set, const MeshData& elements) {
  const auto inside = [&](const Vec3& p) { return set.box && set.box->Contains(p); };
  const int64_t in_box = std::count_if(elements.vertices.begin(), elements.vertices.end(), inside);
  return std::min<double>(kMostSliderNodes, static_cast<double>(set.vertices.size()) + static_cast<double>(in_box));
}

// Faces that belong to one tetrahedron.
int64_t BoundaryTriangles(const std::vector<Tet>& tets) {
  std::vector<Triangle> faces;
  faces.reserve(4 * tets.size());
  for (const Tet& t : tets) {
    for (const Triangle& f : {Triangle{t[0], t[1], t[2]}, {t[0], t[1], t[3]}, {t[0], t[2], t[3]}, {t[1], t[2], t[3]}}) {
      Triangle& face = faces.emplace_back(f);
      std::sort(face.begin(), face.end());
    }
  }
  std::sort(faces.begin(), faces.end());
  int64_t count = 0;
  for (size_t i = 0; i < faces.size(); ++i) {
    const bool before = i > 0 && faces[i - 1] == faces[i], after = i + 1 < faces.size() && faces[i + 1] == faces[i];
    count += !before && !after;
  }
  return count;
}

int64_t SurfaceTriangles(const MeshData& mesh) {
  return mesh.tets.empty() ? static_cast<int64_t>(mesh.triangles.size()) : BoundaryTriangles(mesh.tets);
}

// What solving for the state that a scene begins in takes, before its model is there: as a session of it, at the finest.
int64_t EstimateEquilibriumBytes(const SceneSpec& spec) {
  constexpr double kPerVertex = 512, kPerTriangle = 1280, kAffineNodes = 4;
  double nodes = 0, bytes = 0;
  std::vector<double> sliders;
  for (const BodySpec& body : spec.bodies) {
    const MeshData& elements = body.cage ? *body.cage : body.mesh;
    const double tets = static_cast<double>(elements.tets.size());
    nodes += tets > 0 || RowOf(body.kind).traits.thin ? static_cast<double>(elements.vertices.size()) : kAffineNodes;
    nodes += body.cage ? 0 : std::max(0, body.cage_vertices);
    for (const BoundarySetSpec& set : body.boundary_sets) {
      if (set.slider) sliders.push_back(SliderNodes(set, elements));
    }
    bytes += kPerElement * tets + kPerVertex * static_cast<double>(body.mesh.vertices.size()) +
             kPerTriangle * static_cast<double>(SurfaceTriangles(body.mesh));
  }
  const bool iterative = spec.solver.linear_solver == LinearSolverKind::kAuto && 3 * nodes > kAlwaysFactored;
  const LinearSolverKind solver = iterative ? LinearSolverKind::kPcgIc0 : spec.solver.linear_solver;
  for (const double slider : sliders) bytes += SliderBytes(slider, solver);
  return static_cast<int64_t>(NodeBytes(nodes) + bytes);
}

// Which vertices of a sheet are near which, along it (sim/scene/shells.cc): of as many as a disc of that radius has, where they are
// spread evenly.
double NearBytes(const BodySpec& body, double dhat) {
  constexpr double kPerEntry = 12, kReach = 3;  // a list that doubles and the one before; 1.5 over kSelfContactShare
  constexpr double kPerTriangle = 1600;         // hinges, couplings and the maps that find the triangles of edges
  const MeshData& mesh = body.shell.rest_mesh ? *body.shell.rest_mesh : body.mesh;
  const auto count = static_cast<int64_t>(mesh.vertices.size());
  const auto in_range = [count](int32_t v) { return v >= 0 && v < count; };
  double longest = 0, area = 0;
  for (const Triangle& t : mesh.triangles) {
    if (!std::all_of(t.begin(), t.end(), in_range)) continue;  // refused in compiling
    const Vec3 u = mesh.vertices[t[1]] - mesh.vertices[t[0]], v = mesh.vertices[t[2]] - mesh.vertices[t[0]];
    longest = std::max({longest, u.norm(), v.norm(), (u - v).norm()});
    area += 0.5 * u.cross(v).norm();
  }
  const double vertices = static_cast<double>(count);
  const double thickness = ConstantsOf(body.shell, body.material).contact_thickness_m;
  const double reach = kReach * (dhat + thickness) + 2 * longest;
  const double near = area > 0 ? M_PI * reach * reach * vertices / area : vertices;
  return kPerEntry * vertices * std::min(near, vertices) + kPerTriangle * static_cast<double>(mesh.triangles.size());
}

// Copies of the body's triangles, and the edges of one of them at a time.
int64_t FilledBytes(const BodySpec& body) {
  constexpr int64_t kCopies = 36, kEdges = 300;
  if (body.enclosed_volumes.empty()) return 0;
  const auto volumes = static_cast<int64_t>(body.enclosed_volumes.size());
  return (kCopies * volumes + kEdges) * SurfaceTriangles(body.mesh);
}

// What holds bodies together: some ties a joint, or one for each vertex that is attached.
int64_t JointCompileBytes(const SceneSpec& spec) {
  constexpr int64_t kPerJoint = 8 << 10, kPerTie = 512;
  int64_t bytes = kPerJoint * static_cast<int64_t>(spec.joints.size());
  for (const JointSpec& joint : spec.joints) {
    if (joint.kind != JointKind::kAttachment) continue;
    bytes += kPerTie * static_cast<int64_t>(joint.vertices.size());
    if (!joint.box) continue;
    const auto body =
        std::find_if(spec.bodies.begin(), spec.bodies.end(), [&](const BodySpec& b) { return b.name == joint.body_a; });
    if (body == spec.bodies.end()) continue;
    const MeshData& elements = body->cage ? *body->cage : body->mesh;
    const auto inside = [&](const Vec3& p) { return joint.box->Contains(p); };
    bytes += kPerTie * static_cast<int64_t>(std::count_if(elements.vertices.begin(), elements.vertices.end(), inside));
  }
  return bytes;
}

// What stays of a condensed stiffness at most.
int64_t CondensedBytesOf(const BodySpec& body) {
  constexpr int64_t kMostParts = kMostCondensedParts + kMostCondensedClusters;  // shares are rounded
  constexpr int64_t kTetsPerVertex = 7;                                         // of a cage, at most
  const int64_t cage = std::clamp<int64_t>(CageVertices(body), 0, kMostCondensedVertices), stride = (cage + 3) / 4 * 4;
  return static_cast<int64_t>(sizeof(double)) *
         (kMostCondensedClusters * (9 * stride * cage + 3 * cage) +
          std::min(kMostParts, kTetsPerVertex * cage + kMostCondensedClusters) * 18 * stride);
}

// Four matrices of three rows a fine vertex and three columns a cage vertex, and the factor of the fine stiffness.
int64_t CondensingBytes(const BodySpec& body) {
  constexpr int64_t kMatrices = 4, kFactorPerVertex = 20 << 10, kLattice = 8, kMostCage = kMostCondensedVertices,
                    kMostFine = kMostOwnFineVertices, kLeastLattice = 800;
  const int64_t cage = std::clamp<int64_t>(CageVertices(body), 0, kMostCage);
  const int64_t own = body.mesh.tets.empty() ? 0 : static_cast<int64_t>(body.mesh.vertices.size());
  const int64_t fine = std::max(std::max(kLattice * cage, kLeastLattice), std::min(own, kMostFine));
  return fine * (kMatrices * 72 * cage + kFactorPerVertex);
}

// One stiffness is made after the other, each once.
int64_t CondensingBytes(const std::vector<BodySpec>& bodies) {
  const std::vector<int> stiffness = SharedStiffness(bodies);
  int64_t most = 0, kept = 0;
  for (size_t b = 0; b < bodies.size(); ++b) {
    if (stiffness[b] != static_cast<int>(b)) continue;
    most = std::max(most, CondensingBytes(bodies[b]));
    kept += CondensedBytesOf(bodies[b]);
  }
  return most + kept;
}

}  // namespace

int64_t EstimateCompileBytes(const SceneSpec& spec) {
  constexpr int64_t kFixed = 256 << 10, kPerVertex = 300, kPerTriangle = 800, kPerTet = 1600, kPerBodyPair = 64;
  constexpr double kMostBytes = 1e18;
  int64_t vertices = 0, triangles = 0, tets = 0;
  double parts = static_cast<double>(JointCompileBytes(spec));
  for (const BodySpec& body : spec.bodies) {
    const auto add = [&](const MeshData& mesh) {
      vertices += static_cast<int64_t>(mesh.vertices.size());
      // Where there are tetrahedra, triangles are not used; at most all their faces are the boundary.
      triangles += static_cast<int64_t>(mesh.tets.empty() ? mesh.triangles.size() : mesh.tets.size());
      tets += static_cast<int64_t>(mesh.tets.size());
    };
    add(body.mesh);
    if (body.cage) add(*body.cage);
    if (body.shell.rest_mesh) add(*body.shell.rest_mesh);
    if (!body.cage) tets += 6 * int64_t{std::max(0, body.cage_vertices)};
    if (RowOf(body.kind).traits.thin) parts += NearBytes(body, spec.contact.dhat_m);
    parts += static_cast<double>(FilledBytes(body));
  }
  if (!(parts <= kMostBytes)) parts = kMostBytes;
  const int64_t bodies = static_cast<int64_t>(spec.bodies.size());
  const int64_t solving = spec.start_in_equilibrium ? EstimateEquilibriumBytes(spec) : 0;
  return solving + CondensingBytes(spec.bodies) + static_cast<int64_t>(parts) + kFixed + kPerVertex * vertices +
         kPerTriangle * triangles + kPerTet * tets + kPerBodyPair * bodies * bodies;
}

int64_t EstimateSessionBytes(const Model& model, int worlds) {
  constexpr double kFixed = 64 << 10, kPerSheetTriangle = 4 << 10;
  size_t elements = 0;
  for (const ElasticBody& body : model.elastic) elements += body.nodes.size();
  // Of a triangle: a membrane, one and a half hinges with their 12x12 matrices, three couplings.
  double sheets = 0;
  for (const ShellBody& shell : model.shells) sheets += kPerSheetTriangle * static_cast<double>(shell.triangles.size());
  double condensed = 0;
  for (const ElasticBody& body : model.elastic) {
    // The Hessian with and without its damping and as it is held, as coupled as it is factored, and vectors of every cluster.
    constexpr double kPerPair = 6 * 72 + 44, kOfCluster = 20, kOfPart = 6;
    if (!body.condensed) continue;
    const auto n = static_cast<double>(body.condensed->stride());
    double vectors = 0;
    for (const CondensedStiffness::Cluster& cluster : body.condensed->clusters) {
      vectors += kOfCluster + kOfPart * static_cast<double>(cluster.volume.size());
    }
    condensed += kPerPair * n * n + 24 * n * vectors;
  }
  double sliders = 0, joints = 0;
  for (const Joint& joint : model.joints) joints += JointBytes(joint);
  for (const Slider& slider : model.sliders) {
    sliders += SliderBytes(static_cast<double>(model.boundary_sets[slider.boundary_set].nodes.size()), model.solver.linear_solver);
  }
  return static_cast<int64_t>(kFixed + NodeBytes(model.node_count) + kPerElement * static_cast<double>(elements) + sheets +
                              SurfaceBytes(model) + condensed + sliders + joints) *
         worlds;
}

bool MemoryBudget::TryAdd(int64_t bytes, int64_t* used) {
  *used = used_.load();
  do {
    if (total_bytes_ > 0 && bytes > total_bytes_ - *used) return false;
  } while (!used_.compare_exchange_weak(*used, *used + bytes));
  return true;
}

absl::StatusOr<MemoryBudget::Share> MemoryBudget::Take(int64_t bytes, const std::string& what) {
  if (largest_bytes_ > 0 && bytes > largest_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("MEMORY_BUDGET: ", what, " needs about ", bytes, " bytes; the server gives one at most ", largest_bytes_));
  }
  return TakeForMessage(bytes, what);
}

absl::StatusOr<MemoryBudget::Share> MemoryBudget::TakeForMessage(int64_t bytes, const std::string& what) {
  int64_t used = 0;
  if (!TryAdd(bytes, &used)) return DoesNotFit(bytes, used, what);
  return Share(this, bytes);
}

absl::Status MemoryBudget::DoesNotFit(int64_t bytes, int64_t used, const std::string& what) const {
  return absl::ResourceExhaustedError(absl::StrCat("MEMORY_BUDGET: ", what, " needs about ", bytes, " bytes; ", used, " of the ",
                                                   total_bytes_,
                                                   " that the server gives are taken; try again, or delete something first"));
}

MemoryBudget::Share MemoryBudget::Record(int64_t bytes) {
  used_.fetch_add(bytes);
  return Share(this, bytes);
}

bool MemoryBudget::Share::Extend(int64_t bytes) {
  int64_t used = 0;
  if (budget_ != nullptr && !budget_->TryAdd(bytes, &used)) return false;
  bytes_ += bytes;
  return true;
}

absl::Status MemoryBudget::Share::Grow(int64_t bytes, const std::string& what) {
  int64_t used = 0;
  if (budget_ != nullptr && !budget_->TryAdd(bytes, &used)) {
    return budget_->DoesNotFit(bytes_ + bytes, used - std::min(used, bytes_), what);
  }
  bytes_ += bytes;
  return absl::OkStatus();
}

absl::StatusOr<MemoryBudget::Share> RequestMemory::Keep(int64_t bytes) {
  if (bytes > share_.bytes()) {
    if (absl::Status status = share_.Grow(bytes - share_.bytes(), what_); !status.ok()) return status;
  }
  share_.ShrinkTo(bytes);
  return std::move(share_);
}

void MemoryBudget::Share::SetTo(int64_t bytes) {
  if (budget_ == nullptr) return;
  budget_->used_.fetch_add(bytes - bytes_);
  bytes_ = bytes;
}

void MemoryBudget::Share::ShrinkTo(int64_t bytes) {
  if (budget_ == nullptr || bytes >= bytes_) return;
  budget_->used_.fetch_sub(bytes_ - bytes);
  bytes_ = bytes;
}

int64_t ResidentBytes() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace eipc
