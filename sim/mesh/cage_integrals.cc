// Volume and consistent mass of the solid inside a closed surface, tet by tet of a cage that holds it.
//
// Let Below(abc) be the vertical column of all points under the surface triangle abc. Of the triangles of a closed outward
// surface above a point, those that face up minus those that face down number 1 inside the solid and 0 outside, so
//   solid = sum over triangles of sign(n_z) Below(abc)   (as indicator functions, almost everywhere).
// T n Below(abc) is convex: T cut by three vertical planes and the triangle's own plane. It depends continuously on the input, so
// vertical triangles, shared edges and coplanar faces need no case of their own.
#include "sim/mesh/cage_integrals.h"

#include <array>
#include <cmath>

#include "absl/strings/str_format.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

using Vec4 = Eigen::Vector4d;

// A piece of T: its corners in T's barycentric coordinates, and its volume as a share of T's.
struct Piece {
  std::array<Vec4, 4> corner;
  double volume = 0;
};

// Four cuts, each of which turns a piece into at most three.
constexpr int kMaxPieces = 81;
struct Pieces {
  std::array<Piece, kMaxPieces> list;
  int count = 0;
  void Add(const Vec4& a, const Vec4& b, const Vec4& c, const Vec4& d, double volume) {
    if (volume > 0) list[count++] = {{a, b, c, d}, volume};
  }
};

// Keeps the part of `piece` where the linear function with values `g` at T's vertices is positive. Every volume is a product of
// edge fractions: nothing cancels.
void CutPiece(const Piece& piece, const Vec4& g, Pieces* out) {
  std::array<int, 4> in, ex;
  std::array<double, 4> value;
  int n_in = 0, n_ex = 0;
  for (int i = 0; i < 4; ++i) {
    value[i] = g.dot(piece.corner[i]);
    if (value[i] > 0) {
      in[n_in++] = i;
    } else {
      ex[n_ex++] = i;
    }
  }
  const auto& x = piece.corner;
  const double v = piece.volume;
  // Share of the edge from inner corner i to outer corner e that is kept, and its end.
  const auto share = [&](int i, int e) { return value[i] / (value[i] - value[e]); };
  const auto point = [&](int i, int e, double s) -> Vec4 { return x[i] + s * (x[e] - x[i]); };
  if (n_in == 4) {
    out->list[out->count++] = piece;
  } else if (n_in == 1) {
    const int i = in[0];
    const double a = share(i, ex[0]), b = share(i, ex[1]), c = share(i, ex[2]);
    out->Add(x[i], point(i, ex[0], a), point(i, ex[1], b), point(i, ex[2], c), v * a * b * c);
  } else if (n_in == 3) {
    const int e = ex[0];
    const double a = share(in[0], e), b = share(in[1], e), c = share(in[2], e);
    const Vec4 pa = point(in[0], e, a), pb = point(in[1], e, b), pc = point(in[2], e, c);
    out->Add(pa, x[in[0]], x[in[1]], x[in[2]], v * a);
    out->Add(pa, pb, x[in[1]], x[in[2]], v * (1 - a) * b);
    out->Add(pa, pb, pc, x[in[2]], v * (1 - a) * (1 - b) * c);
  } else if (n_in == 2) {
    const int i = in[0], j = in[1], e = ex[0], f = ex[1];
    const double a = share(i, e), b = share(i, f), c = share(j, e), d = share(j, f);
    const Vec4 ie = point(i, e, a), jf = point(j, f, d), jevec = point(j, e, c), iff = point(i, f, b);
    out->Add(x[i], ie, iff, x[j], v * a * b);
    out->Add(ie, iff, x[j], jevec, v * (1 - a) * b * c);
    out->Add(iff, x[j], jevec, jf, v * (1 - b) * c * d);
  }
}

// Values at T's vertices of the four functions that are positive inside Below(abc). The vertical plane through an edge is always
// evaluated from the edge's lower vertex to its higher one, so the two triangles at the edge cut along exactly the same plane.
std::array<Vec4, 4> ColumnPlanes(const std::vector<Vec3>& x, const Triangle& tri, const Vec3& normal,
                                 const std::array<Vec3, 4>& corners) {
  const double side = normal.z() > 0 ? 1.0 : -1.0;
  std::array<Vec4, 4> g;
  for (int k = 0; k < 3; ++k) {
    const int32_t i = tri[k], j = tri[(k + 1) % 3];
    const Vec3 &p = x[std::min(i, j)], &q = x[std::max(i, j)];
    const double sign = i < j ? side : -side;
    for (int c = 0; c < 4; ++c) {
      const Vec3 d = corners[c] - p;
      g[k][c] = sign * ((q.x() - p.x()) * d.y() - (q.y() - p.y()) * d.x());
    }
  }
  for (int c = 0; c < 4; ++c) g[3][c] = -side * normal.dot(corners[c] - x[tri[0]]);
  return g;
}

struct TetIntegrals {
  double volume = 0;
  Eigen::Matrix4d product = Eigen::Matrix4d::Zero();
};

// Adds sign times the integrals over T n Below(abc), as shares of T's volume.
void AddColumn(const std::array<Vec4, 4>& planes, double sign, Pieces* pieces, Pieces* scratch, TetIntegrals* sum) {
  for (const Vec4& g : planes) {
    if (!(g.maxCoeff() > 0)) return;
  }
  pieces->count = 1;
  pieces->list[0] = {{Vec4::Unit(0), Vec4::Unit(1), Vec4::Unit(2), Vec4::Unit(3)}, 1.0};
  for (const Vec4& g : planes) {
    if (g.minCoeff() > 0) continue;
    scratch->count = 0;
    for (int i = 0; i < pieces->count; ++i) CutPiece(pieces->list[i], g, scratch);
    std::swap(pieces, scratch);
  }
  for (int i = 0; i < pieces->count; ++i) {
    const Piece& piece = pieces->list[i];
    // For a tet with corner values w_i of a vector of linear functions: integral w w^T = V (s s^T + sum w_i w_i^T) / 20.
    Vec4 s = Vec4::Zero();
    Eigen::Matrix4d m = Eigen::Matrix4d::Zero();
    for (const Vec4& w : piece.corner) {
      s += w;
      m += w * w.transpose();
    }
    m += s * s.transpose();
    sum->volume += sign * piece.volume;
    sum->product += (sign * piece.volume / 20.0) * m;
  }
}

struct SurfaceTriangle {
  Triangle tri;
  Vec3 normal;
  double min_x, max_x, min_y, max_y, max_z;
};

std::vector<SurfaceTriangle> PrepareTriangles(const SurfaceMesh& surface) {
  std::vector<SurfaceTriangle> prepared;
  const std::vector<Vec3>& x = surface.vertices();
  for (const Triangle& t : surface.triangles()) {
    const Vec3 &a = x[t[0]], &b = x[t[1]], &c = x[t[2]];
    const Vec3 normal = (b - a).cross(c - a);
    if (normal.z() == 0) continue;  // a column without thickness
    const Vec3 low = a.cwiseMin(b).cwiseMin(c), high = a.cwiseMax(b).cwiseMax(c);
    prepared.push_back({t, normal, low.x(), high.x(), low.y(), high.y(), high.z()});
  }
  return prepared;
}

// Most triangles are passed over, in a nanosecond; one that is not takes up to some microseconds.
constexpr size_t kTrianglesAPoll = 1024;

}  // namespace

absl::StatusOr<CageIntegrals> IntegrateSolidOverCage(const TetMesh& cage, const SurfaceMesh& surface, Interrupt* interrupt) {
  if (!surface.IsClosed()) return absl::InvalidArgumentError("the surface is not closed, so it bounds no solid");
  const double solid = surface.SignedVolume();
  if (!(solid > 0)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the surface encloses volume %g m^3; its triangles must be counter-clockwise from outside", solid));
  }
  const std::vector<SurfaceTriangle> triangles = PrepareTriangles(surface);
  CageIntegrals result;
  double held = 0;
  Pieces pieces, scratch;
  for (size_t t = 0; t < cage.tets().size(); ++t) {
    std::array<Vec3, 4> corners;
    for (int c = 0; c < 4; ++c) corners[c] = cage.vertices()[cage.tets()[t][c]];
    const Vec3 low = corners[0].cwiseMin(corners[1]).cwiseMin(corners[2]).cwiseMin(corners[3]);
    const Vec3 high = corners[0].cwiseMax(corners[1]).cwiseMax(corners[2]).cwiseMax(corners[3]);
    TetIntegrals sum;
    for (size_t i = 0; i < triangles.size(); ++i) {
      if (i % kTrianglesAPoll == 0) EIPC_RETURN_IF_ERROR(Poll(interrupt));
      const SurfaceTriangle& s = triangles[i];
      if (s.max_x <= low.x() || s.min_x >= high.x() || s.max_y <= low.y() || s.min_y >= high.y() || s.max_z <= low.z()) continue;
      AddColumn(ColumnPlanes(surface.vertices(), s.tri, s.normal, corners), s.normal.z() > 0 ? 1.0 : -1.0, &pieces, &scratch, &sum);
    }
    // What is left of cancelling columns in a tet that the solid does not reach is rounding, not matter.
    if (sum.volume < 1e-13) sum = TetIntegrals();
    const double tet_volume = cage.Volume(static_cast<int>(t));
    std::array<double, 16> product;
    for (int k = 0; k < 16; ++k) product[k] = tet_volume * sum.product(k / 4, k % 4);
    result.elastic_volume.push_back(tet_volume * sum.volume);
    result.shape_product.push_back(product);
    held += tet_volume * sum.volume;
  }
  if (!(std::abs(held - solid) <= 1e-9 * solid)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the cage holds %.9g of the solid's %.9g m^3: it does not enclose the surface, or its tetrahedra overlap", held, solid));
  }
  return result;
}

CageIntegrals IntegrateFullTets(const TetMesh& mesh) {
  CageIntegrals result;
  for (size_t t = 0; t < mesh.tets().size(); ++t) {
    const double volume = mesh.Volume(static_cast<int>(t));
    std::array<double, 16> product;
    for (int k = 0; k < 16; ++k) product[k] = volume / (k / 4 == k % 4 ? 10.0 : 20.0);
    result.elastic_volume.push_back(volume);
    result.shape_product.push_back(product);
  }
  return result;
}

}  // namespace eipc
