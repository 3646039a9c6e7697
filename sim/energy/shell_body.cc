#include "sim/energy/shell_body.h"

#include <algorithm>
#include <map>

#include "sim/energy/hinge.h"

namespace eipc {
namespace {

// A triangle at one side of an edge, and the edge's place in it: vertices k, k + 1.
struct Use {
  int32_t triangle, k;
};

class BendingMaker {
 public:
  BendingMaker(const std::vector<Vec3>& rest, int32_t first_node, const std::vector<uint8_t>& held, ShellBody* shell)
      : rest_(rest), first_node_(first_node), held_(held), shell_(*shell), hinge_of_(shell->triangles.size(), {-1, -1, -1}) {}

  void Make(bool flat) {
    shell_.hinges.clear();
    shell_.couplings.clear();
    if (!(shell_.bending_stiffness > 0)) return;
    std::map<Edge, std::vector<Use>> uses;
    for (size_t t = 0; t < shell_.triangles.size(); ++t) {
      const Triangle& v = shell_.triangles[t];
      for (int k = 0; k < 3; ++k) {
        uses[{std::min(v[k], v[(k + 1) % 3]), std::max(v[k], v[(k + 1) % 3])}].push_back({static_cast<int32_t>(t), k});
      }
    }
    for (const auto& [edge, sides] : uses) {
      if (sides.size() == 2 && !(IsHeld(sides[0].triangle) && IsHeld(sides[1].triangle))) AddHinge(sides[0], sides[1], flat);
    }
    if (shell_.bending_form == BendingForm::kPlate) {
      for (size_t t = 0; t < shell_.triangles.size(); ++t) CoupleEdges(static_cast<int32_t>(t));
    }
  }

 private:
  const Vec3& At(int32_t node) const { return rest_[node - first_node_]; }
  Vec3 EdgeOf(int32_t t, int k) const {
    const Triangle& v = shell_.triangles[t];
    return At(v[(k + 1) % 3]) - At(v[k]);
  }
  bool IsHeld(int32_t t) const {
    const Triangle& v = shell_.triangles[t];
    return held_[v[0] - first_node_] && held_[v[1] - first_node_] && held_[v[2] - first_node_];
  }

  void AddHinge(const Use& a, const Use& b, bool flat) {
    const Triangle &va = shell_.triangles[a.triangle], &vb = shell_.triangles[b.triangle];
    Hinge hinge;
    hinge.nodes = {va[a.k], va[(a.k + 1) % 3], va[(a.k + 2) % 3], vb[(b.k + 2) % 3]};
    const std::array<int32_t, 4>& n = hinge.nodes;
    if (!flat) hinge.rest_angle = HingeAngle({At(n[0]), At(n[1]), At(n[2]), At(n[3])});
    if (shell_.bending_form == BendingForm::kHinge) {
      const double area = (IsHeld(a.triangle) ? 0 : shell_.area[a.triangle]) + (IsHeld(b.triangle) ? 0 : shell_.area[b.triangle]);
      hinge.stiffness = shell_.bending_stiffness * EdgeOf(a.triangle, a.k).squaredNorm() / area;
    }
    const int32_t index = static_cast<int32_t>(shell_.hinges.size());
    hinge_of_[a.triangle][a.k] = hinge_of_[b.triangle][b.k] = index;
    if (IsHeld(a.triangle)) whole_.push_back({b.triangle, b.k});
    if (IsHeld(b.triangle)) whole_.push_back({a.triangle, a.k});
    shell_.hinges.push_back(hinge);
  }

  // |e| as the triangle counts it.
  double Length(int32_t t, int k) const {
    const bool whole = std::any_of(whole_.begin(), whole_.end(), [&](const Use& u) { return u.triangle == t && u.k == k; });
    return (whole ? 2 : 1) * EdgeOf(t, k).norm();
  }

  void CoupleEdges(int32_t t) {
    if (IsHeld(t)) return;
    const double nu = shell_.poissons_ratio;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j <= i; ++j) {
        const int32_t hi = hinge_of_[t][i], hj = hinge_of_[t][j];
        if (hi < 0 || hj < 0) continue;
        const double cosine = EdgeOf(t, i).normalized().dot(EdgeOf(t, j).normalized());
        const double c =
            shell_.bending_stiffness * Length(t, i) * Length(t, j) / (4 * shell_.area[t]) * ((1 - nu) * cosine * cosine + nu);
        if (i == j) {
          shell_.hinges[hi].stiffness += c;
        } else {
          shell_.couplings.push_back({hi, hj, c});
        }
      }
    }
  }

  const std::vector<Vec3>& rest_;
  const int32_t first_node_;
  const std::vector<uint8_t>& held_;
  ShellBody& shell_;
  std::vector<std::array<int32_t, 3>> hinge_of_;  // by triangle and edge; -1: none
  std::vector<Use> whole_;                        // edges whose whole angle belongs to this triangle
};

}  // namespace

void SetBending(const std::vector<Vec3>& rest, int32_t first_node, const std::vector<uint8_t>& held, bool flat, ShellBody* shell) {
  BendingMaker(rest, first_node, held, shell).Make(flat);
}

}  // namespace eipc
