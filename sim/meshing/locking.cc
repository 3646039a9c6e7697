#include "sim/meshing/locking.h"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/meshing/condense.h"
#include "sim/meshing/fine_model.h"
#include "sim/meshing/static_stiffness.h"

namespace eipc {
namespace {

constexpr double kPatch = 0.2;  // of the extent: the ends that loads act on
constexpr int kReferenceVertices = 800;
// Poisson's ratios that are tried for the cage, as shares of the material's. Linear tets lock by volume first.
constexpr std::array<double, 4> kPoissonShares = {1, 0.8, 0.5, 0};

struct NamedLoad {
  std::string name;
  bool calibrates;
  SurfaceLoad load;
};

// Loads on one surface; each acts on patches at its ends, in proportion to area, and is freed of net force and moment.
class LoadMaker {
 public:
  explicit LoadMaker(const SurfaceMesh& surface) : x_(surface.vertices()), area_(x_.size(), 0.0) {
    for (const Triangle& t : surface.triangles()) {
      const double a = (x_[t[1]] - x_[t[0]]).cross(x_[t[2]] - x_[t[0]]).norm() / 6;
      for (const int32_t v : t) area_[v] += a;
    }
    double total = 0;
    for (size_t v = 0; v < x_.size(); ++v) {
      total += area_[v];
      center_ += area_[v] * x_[v];
    }
    center_ /= total;
  }

  // The ends along d are pushed towards each other.
  SurfaceLoad Squeeze(const Vec3& d) const {
    SurfaceLoad f = Zero();
    AddPatch(
        d, 1 - kPatch, 1, [&](const Vec3&) -> Vec3 { return -d; }, &f);
    AddPatch(
        d, 0, kPatch, [&](const Vec3&) -> Vec3 { return d; }, &f);
    return Balanced(std::move(f));
  }
  // The ends along d are pushed towards `to`, the middle against it.
  SurfaceLoad Bend(const Vec3& d, const Vec3& to) const {
    SurfaceLoad f = Zero();
    AddPatch(
        d, 1 - kPatch, 1, [&](const Vec3&) -> Vec3 { return to; }, &f);
    AddPatch(
        d, 0, kPatch, [&](const Vec3&) -> Vec3 { return to; }, &f);
    AddPatch(
        d, 0.5 - kPatch / 2, 0.5 + kPatch / 2, [&](const Vec3&) -> Vec3 { return -2 * to; }, &f);
    return Balanced(std::move(f));
  }
  // The ends along d are turned about it, one against the other.
  SurfaceLoad Twist(const Vec3& d) const {
    SurfaceLoad f = Zero();
    AddPatch(
        d, 1 - kPatch, 1, [&](const Vec3& p) -> Vec3 { return d.cross(p - center_); }, &f);
    AddPatch(
        d, 0, kPatch, [&](const Vec3& p) -> Vec3 { return -d.cross(p - center_); }, &f);
    return Balanced(std::move(f));
  }

 private:
  SurfaceLoad Zero() const { return SurfaceLoad(x_.size(), Vec3::Zero()); }

  template <typename F>
  void AddPatch(const Vec3& d, double from, double to, const F& force, SurfaceLoad* f) const {
    double low = d.dot(x_[0]), high = low, total = 0;
    for (const Vec3& p : x_) {
      low = std::min(low, d.dot(p));
      high = std::max(high, d.dot(p));
    }
    const auto inside = [&](const Vec3& p) {
      const double at = (d.dot(p) - low) / (high - low);
      return at >= from && at <= to;
    };
    for (size_t v = 0; v < x_.size(); ++v) total += inside(x_[v]) ? area_[v] : 0;
    for (size_t v = 0; v < x_.size() && total > 0; ++v) {
      if (inside(x_[v])) (*f)[v] += area_[v] / total * force(x_[v]);
    }
  }

  // Subtracts area-weighted rigid motions until neither force nor moment is left.
  SurfaceLoad Balanced(SurfaceLoad f) const {
    Eigen::Matrix<double, 6, 6> gram = Eigen::Matrix<double, 6, 6>::Zero();
    Eigen::Matrix<double, 6, 1> resultant = Eigen::Matrix<double, 6, 1>::Zero();
    const auto modes = [&](const Vec3& p) {
      const Vec3 r = p - center_;
      Eigen::Matrix<double, 3, 6> m;
      m.leftCols<3>().setIdentity();
      for (int k = 0; k < 3; ++k) m.col(3 + k) = Vec3::Unit(k).cross(r);
      return m;
    };
    for (size_t v = 0; v < x_.size(); ++v) {
      const auto m = modes(x_[v]);
      gram += area_[v] * m.transpose() * m;
      resultant += m.transpose() * f[v];
    }
    const Eigen::Matrix<double, 6, 1> motion = gram.fullPivLu().solve(resultant);
    for (size_t v = 0; v < x_.size(); ++v) f[v] -= area_[v] * (modes(x_[v]) * motion);
    return f;
  }

  const std::vector<Vec3>& x_;
  std::vector<double> area_;
  Vec3 center_ = Vec3::Zero();
};

std::vector<NamedLoad> MakeLoads(const SurfaceMesh& surface) {
  Vec3 low = surface.vertices()[0], high = low;
  for (const Vec3& p : surface.vertices()) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  std::array<int, 3> axis = {0, 1, 2};  // longest first
  std::stable_sort(axis.begin(), axis.end(), [&](int a, int b) { return (high - low)[a] > (high - low)[b]; });
  const LoadMaker make(surface);
  const std::string names = "xyz";
  std::vector<NamedLoad> loads;
  const auto unit = [&](int k) -> Vec3 { return Vec3::Unit(axis[k]); };
  const auto name = [&](int k) { return names.substr(axis[k], 1); };
  for (int k = 0; k < 3; ++k) loads.push_back({"squeeze_" + name(k), true, make.Squeeze(unit(k))});
  loads.push_back({"bend_" + name(0) + name(1), true, make.Bend(unit(0), unit(1))});
  loads.push_back({"twist_" + name(0), true, make.Twist(unit(0))});
  loads.push_back({"bend_" + name(0) + name(2), false, make.Bend(unit(0), unit(2))});
  loads.push_back({"twist_" + name(1), false, make.Twist(unit(1))});
  loads.push_back({"bend_" + name(1) + name(2), false, make.Bend(unit(1), unit(2))});
  loads.push_back({"squeeze_" + name(0) + name(1), false, make.Squeeze((unit(0) + unit(1)).normalized())});
  loads.push_back({"squeeze_" + name(1) + name(2), false, make.Squeeze((unit(1) + unit(2)).normalized())});
  return loads;
}

double MeanMismatch(const std::vector<LockingCase>& cases, double LockingCase::*ratio) {
  double sum = 0;
  int count = 0;
  for (const LockingCase& c : cases) {
    if (c.calibrates) continue;
    sum += std::abs(std::log(c.*ratio));
    ++count;
  }
  return std::exp(sum / count);
}

std::vector<SurfaceLoad> Loads(const std::vector<NamedLoad>& named) {
  std::vector<SurfaceLoad> loads;
  for (const NamedLoad& n : named) loads.push_back(n.load);
  return loads;
}

// The compliances of a reference under loads, and how fine it is.
struct Softness {
  std::vector<double> compliances;
  int vertices = 0;
};

// Of a lattice of about this many vertices where there is no reference.
absl::StatusOr<Softness> MeasureSoftness(const SurfaceMesh& surface, const TetMesh* reference, int lattice_vertices,
                                         const std::vector<SurfaceLoad>& loads, double poissons_ratio,
                                         Interrupt* interrupt = nullptr) {
  TetMesh lattice;
  if (reference == nullptr) {
    EIPC_ASSIGN_OR_RETURN(lattice, ReferenceLattice(surface, lattice_vertices, interrupt));
    reference = &lattice;
  }
  EIPC_ASSIGN_OR_RETURN(const StaticBody fine, StaticBody::Create(*reference, surface, interrupt));
  EIPC_ASSIGN_OR_RETURN(std::vector<double> compliances, fine.Compliances(loads, poissons_ratio, interrupt));
  return Softness{std::move(compliances), static_cast<int>(reference->vertices().size())};
}

// By load, how many times stiffer a cage of these compliances is than the reference.
absl::StatusOr<std::vector<double>> StiffnessRatios(const Softness& reference, absl::StatusOr<std::vector<double>> compliances) {
  EIPC_ASSIGN_OR_RETURN(std::vector<double> ratios, std::move(compliances));
  for (size_t i = 0; i < ratios.size(); ++i) {
    if (!(reference.compliances[i] > 0) || !(ratios[i] > 0)) return absl::InvalidArgumentError("a load case deforms nothing");
    ratios[i] = reference.compliances[i] / ratios[i];
  }
  return ratios;
}

absl::StatusOr<CageError> ErrorOf(const std::vector<NamedLoad>& named, const Softness& reference,
                                  absl::StatusOr<std::vector<double>> compliances) {
  EIPC_ASSIGN_OR_RETURN(const std::vector<double> ratios, StiffnessRatios(reference, std::move(compliances)));
  CageError out;
  out.reference_vertices = reference.vertices;
  for (size_t i = 0; i < named.size(); ++i) out.loads.push_back({named[i].name, ratios[i] - 1});
  return out;
}

}  // namespace

double CageError::median() const {
  if (loads.empty()) return 0;
  std::vector<double> sizes;
  for (const Load& load : loads) sizes.push_back(std::abs(load.error));
  std::sort(sizes.begin(), sizes.end());
  return (sizes[sizes.size() / 2] + sizes[(sizes.size() - 1) / 2]) / 2;
}

const CageError::Load* CageError::worst() const {
  const Load* worst = nullptr;
  for (const Load& load : loads) {
    if (worst == nullptr || std::abs(load.error) > std::abs(worst->error)) worst = &load;
  }
  return worst;
}

absl::StatusOr<CageError> MeasureCageError(const TetMesh& cage, const SurfaceMesh& surface, const TetMesh* reference,
                                           double poissons_ratio) {
  const std::vector<NamedLoad> named = MakeLoads(surface);
  const std::vector<SurfaceLoad> loads = Loads(named);
  EIPC_ASSIGN_OR_RETURN(const Softness soft, MeasureSoftness(surface, reference, LatticeFor(cage), loads, poissons_ratio));
  EIPC_ASSIGN_OR_RETURN(const StaticBody coarse, StaticBody::Create(cage, surface));
  return ErrorOf(named, soft, coarse.Compliances(loads, poissons_ratio));
}

absl::StatusOr<CageError> MeasureCondensedError(const TetMesh& cage, const SurfaceMesh& surface, const TetMesh* reference,
                                                double poissons_ratio) {
  if (cage.vertices().size() > kMostCondensedVertices) {
    return absl::InvalidArgumentError(absl::StrCat("condensed cages have at most ", kMostCondensedVertices, " vertices"));
  }
  const std::vector<NamedLoad> named = MakeLoads(surface);
  const std::vector<SurfaceLoad> loads = Loads(named);
  EIPC_ASSIGN_OR_RETURN(const Softness soft, MeasureSoftness(surface, reference, LatticeFor(cage), loads, poissons_ratio));
  EIPC_ASSIGN_OR_RETURN(const CondensedStiffness condensed, Condense(cage, surface, reference, {1, poissons_ratio}));
  EIPC_ASSIGN_OR_RETURN(const Embedding embedding, Embedding::Create(cage, surface.vertices()));
  return ErrorOf(named, soft, CondensedCompliances(condensed, embedding, loads));
}

std::optional<CageError> ErrorKnownFrom(const Locking& locking, const TetMesh& cage, bool by_own_tets) {
  if (!by_own_tets && LatticeFor(cage) != kReferenceVertices) return std::nullopt;
  CageError out;
  out.reference_vertices = locking.reference_vertices;
  for (const LockingCase& c : locking.cases) out.loads.push_back({c.name, c.as_is - 1});
  return out;
}

absl::StatusOr<Locking> MeasureLocking(const TetMesh& cage, const SurfaceMesh& surface, const TetMesh* reference,
                                       double poissons_ratio, Interrupt* interrupt) {
  const std::vector<NamedLoad> named = MakeLoads(surface);
  const std::vector<SurfaceLoad> loads = Loads(named);
  EIPC_ASSIGN_OR_RETURN(const Softness soft,
                        MeasureSoftness(surface, reference, kReferenceVertices, loads, poissons_ratio, interrupt));
  EIPC_ASSIGN_OR_RETURN(const StaticBody coarse, StaticBody::Create(cage, surface, interrupt));
  Locking out;
  out.reference_vertices = soft.vertices;
  double least_spread = 0;
  for (size_t choice = 0; choice < kPoissonShares.size(); ++choice) {
    const double nu = kPoissonShares[choice] * poissons_ratio;
    EIPC_ASSIGN_OR_RETURN(const std::vector<double> ratios, StiffnessRatios(soft, coarse.Compliances(loads, nu, interrupt)));
    double sum = 0, squares = 0, count = 0;
    for (size_t i = 0; i < named.size(); ++i) {
      if (choice == 0) out.cases.push_back({named[i].name, named[i].calibrates, ratios[i], 0});
      if (!named[i].calibrates) continue;
      const double log_ratio = std::log(ratios[i]);
      sum += log_ratio;
      squares += log_ratio * log_ratio;
      ++count;
    }
    const double spread = squares / count - (sum / count) * (sum / count);
    if (choice > 0 && spread >= least_spread) continue;
    least_spread = spread;
    out.poissons_ratio = nu;
    out.youngs_scale = std::exp(-sum / count);
    for (size_t i = 0; i < named.size(); ++i) out.cases[i].calibrated = ratios[i] * out.youngs_scale;
  }
  out.held_out_as_is = MeanMismatch(out.cases, &LockingCase::as_is);
  out.held_out_calibrated = MeanMismatch(out.cases, &LockingCase::calibrated);
  return out;
}

}  // namespace eipc
