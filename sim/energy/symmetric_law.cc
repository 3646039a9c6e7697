#include "sim/energy/symmetric_law.h"

#include <cmath>
#include <variant>

#include "sim/material/lane_modes.h"

namespace eipc {
namespace {

const double kHalfRoot = std::sqrt(0.5);
// Of the entries of a 3x3 matrix in columns: xx, yy, zz; xy with yx, yz with zy, zx with xz.
constexpr int kDiagonal[3] = {0, 4, 8};
constexpr int kBeside[3][2] = {{1, 3}, {5, 7}, {2, 6}};

// Of the symmetric part, so that SymmetricFrom(e) : m = e . SixOf(m).
Vec6 SixOf(const Mat3& m) {
  Vec6 e;
  e << m(0, 0), m(1, 1), m(2, 2), kHalfRoot * (m(0, 1) + m(1, 0)), kHalfRoot * (m(1, 2) + m(2, 1)), kHalfRoot * (m(2, 0) + m(0, 2));
  return e;
}

}  // namespace

Mat3 SymmetricFrom(const Vec6& e) {
  const double xy = kHalfRoot * e[3], yz = kHalfRoot * e[4], zx = kHalfRoot * e[5];
  Mat3 m;
  m << e[0], xy, zx, xy, e[1], yz, zx, yz, e[2];
  return m;
}

Mat3s DeformationFrom(const Vec6s& e) {
  const Quad xy = kHalfRoot * e[3], yz = kHalfRoot * e[4], zx = kHalfRoot * e[5];
  return {Vec3s{1 + e[0], xy, zx}, Vec3s{xy, 1 + e[1], yz}, Vec3s{zx, yz, 1 + e[2]}};
}

SymmetricResponse ResponseTo(const Material& material, const Vec6s& e) {
  const Mat3s f = DeformationFrom(e);
  return std::visit(
      [&](const auto& law) {
        SymmetricResponse out;
        if constexpr (requires { law.Respond(LaneDeformation::Of(f)); }) {
          const LaneResponse response = law.Respond(LaneDeformation::Of(f));
          out.psi = response.psi;
          for (int m = 0; m < 3; ++m) {
            const int i = m, j = (m + 1) % 3;
            out.stress[m] = response.p[m][m];
            out.stress[3 + m] = kHalfRoot * (response.p[i][j] + response.p[j][i]);
          }
        } else {
          for (int lane = 0; lane < 4; ++lane) {
            out.psi[lane] = DensityOf(material, Lane(f, lane));
            const Vec6 stress = StressOf(material, Lane(f, lane));
            for (int m = 0; m < 6; ++m) out.stress[m][lane] = stress[m];
          }
        }
        return out;
      },
      material);
}

double DensityOf(const Material& material, const Mat3& f) {
  return std::visit([&](const auto& law) { return law.Psi(f, Mat3::Identity()); }, material);
}

Vec6 StressOf(const Material& material, const Mat3& f) {
  return SixOf(std::visit([&](const auto& law) { return Mat3(law.P(f, Mat3::Identity())); }, material));
}

Mat6 TangentOf(const Material& material, const Mat3& f, bool exact) {
  const Mat9 h = std::visit(
      [&](const auto& law) { return Mat9(exact ? law.Hessian(f, Mat3::Identity()) : law.ProjectedHessian(f, Mat3::Identity())); },
      material);
  // SixOf for rows, then for columns.
  Eigen::Matrix<double, 6, 9> half;
  Mat6 out;
  for (int m = 0; m < 3; ++m) {
    half.row(m) = h.row(kDiagonal[m]);
    half.row(3 + m) = kHalfRoot * (h.row(kBeside[m][0]) + h.row(kBeside[m][1]));
  }
  for (int m = 0; m < 3; ++m) {
    out.col(m) = half.col(kDiagonal[m]);
    out.col(3 + m) = kHalfRoot * (half.col(kBeside[m][0]) + half.col(kBeside[m][1]));
  }
  return out;
}

}  // namespace eipc
