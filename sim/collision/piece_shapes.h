#ifndef EIPC_SIM_COLLISION_PIECE_SHAPES_H_
#define EIPC_SIM_COLLISION_PIECE_SHAPES_H_

#include <vector>

#include "sim/collision/surface_patches.h"

namespace eipc {

// Where the deformation gradients of pieces may be, and what follows for self-contact (see SurfacePatches).
class PieceShapes {
 public:
  PieceShapes(const SurfacePatches* patches, double dhat) : patches_(patches), dhat_(dhat), balls_(patches->pieces.size()) {}

  // Of the body's pieces: within `slack` (Frobenius norm) of the straight way from one state to the other.
  void Set(int32_t body, const VecX& from, const VecX& to, double slack);
  // Balls are convex: a straight way between two states that they cover is covered as well.
  bool Cover(int32_t body, const VecX& q) const;
  // Whether nothing of one node of the body's tree can be in contact with anything of the other.
  bool ProveApart(int32_t body, int32_t node, int32_t other) const;

 private:
  struct Ball {
    Mat3 middle;
    double radius = 0;
    double stretch = 0;  // smallest singular value of the middle, rounded down
  };
  // Of the balls of two patches, seen from a matrix: the farthest of their middles and of their points, and the largest radius.
  struct Extent {
    double distance = 0;
    double reach = 0;
    double radius = 0;
  };
  double Detour(int32_t piece, int32_t other) const;
  Mat3 Mean(const SurfacePatch& a, const SurfacePatch& b) const;
  Extent ExtentAround(const Mat3& m, const SurfacePatch& a, const SurfacePatch& b) const;

  const SurfacePatches* patches_;
  double dhat_;
  std::vector<Ball> balls_;  // by piece
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_PIECE_SHAPES_H_
