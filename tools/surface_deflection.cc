#include "tools/surface_deflection.h"

#include <Eigen/SVD>
#include <cmath>

namespace eipc {
namespace {

// The rotation closest to `m` in the sense of least squares (Kabsch 1976).
Mat3 NearestRotation(const Mat3& m) {
  const Eigen::JacobiSVD<Mat3> svd(m, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Mat3 sign = Mat3::Identity();
  sign(2, 2) = (svd.matrixU() * svd.matrixV().transpose()).determinant() < 0 ? -1 : 1;
  return svd.matrixU() * sign * svd.matrixV().transpose();
}

}  // namespace

SurfaceDeflection::SurfaceDeflection(const Model& model, int body) : vertices_(model.bodies[body].vertices) {
  double area = 0;
  for (int32_t v = vertices_.begin; v < vertices_.end; ++v) {
    const EmbeddingRow& row = model.embedding[v];
    Vec3 p = Vec3::Zero();
    for (int k = 0; k < row.count; ++k) p += row.weights[k] * model.initial_positions[row.nodes[k]];
    rest_.push_back(p);
    share_.push_back(model.surface.vertex_area[v]);
    area += share_.back();
  }
  for (double& share : share_) share /= area;
  const Vec3 mean = Mean(rest_, 0);
  for (Vec3& p : rest_) p -= mean;
}

Vec3 SurfaceDeflection::Mean(const std::vector<Vec3>& p, size_t begin) const {
  Vec3 mean = Vec3::Zero();
  for (size_t i = 0; i < share_.size(); ++i) mean += share_[i] * p[begin + i];
  return mean;
}

std::vector<Vec3> SurfaceDeflection::Of(const std::vector<Vec3>& x) const {
  const auto begin = static_cast<size_t>(vertices_.begin);
  const Vec3 mean = Mean(x, begin);
  Mat3 covariance = Mat3::Zero();
  for (size_t i = 0; i < rest_.size(); ++i) covariance += share_[i] * (x[begin + i] - mean) * rest_[i].transpose();
  const Mat3 back = NearestRotation(covariance).transpose();
  std::vector<Vec3> u(rest_.size());
  for (size_t i = 0; i < rest_.size(); ++i) u[i] = back * (x[begin + i] - mean) - rest_[i];
  return u;
}

double SurfaceDeflection::Rms(const std::vector<Vec3>& u) const {
  double sum = 0;
  for (size_t i = 0; i < u.size(); ++i) sum += share_[i] * u[i].squaredNorm();
  return std::sqrt(sum);
}

double SurfaceDeflection::RmsDifference(const std::vector<Vec3>& u, const std::vector<Vec3>& v) const {
  double sum = 0;
  for (size_t i = 0; i < u.size(); ++i) sum += share_[i] * (u[i] - v[i]).squaredNorm();
  return std::sqrt(sum);
}

}  // namespace eipc
