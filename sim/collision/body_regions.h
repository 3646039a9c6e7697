#ifndef EIPC_SIM_COLLISION_BODY_REGIONS_H_
#define EIPC_SIM_COLLISION_BODY_REGIONS_H_

#include <cstdint>
#include <vector>

#include "sim/collision/anchors.h"
#include "sim/collision/region_boxes.h"
#include "sim/collision/region_width.h"
#include "sim/collision/view_frame.h"

namespace eipc {

// The regions and anchors of bodies that are seen along one kind of axes. Pairs of two bodies are searched for along those of the
// world; what is near within one body along its own, where it stays inside its regions however the body turns.
class BodyRegions {
 public:
  // Bodies without surface have none; along their own axes, only those that may touch themselves have.
  BodyRegions(ViewAxes axes, const CollisionSurface* surface, const SurfaceSummaries* summaries,
              const std::vector<EmbeddingRow>* rows, const std::vector<Vec3>* offsets, double reach);

  // Whether the body has any.
  bool wanted(int32_t body) const { return wanted_[body] != 0; }
  ViewFrames& frames() { return frames_; }

  // Of one straight path: frames of the body at both ends, how far its nodes move in them (largest component, m), and how far they
  // leave the straight lines there, m.
  struct Motion {
    ViewFrame here, there;
    double largest = 0;
    double bulge = 0;
    // Regions grow by the bulge on all sides, so a small one makes a motion far.
    bool IsFar(double far) const { return largest > far || bulge > kBulgeOfFar * far; }
    static constexpr double kBulgeOfFar = 1.0 / 16;
  };
  // `along_world`, where given: another that has measured the same motion, whose centroids are known.
  void MeasureMotion(const VecX& here, const VecX& there, const BodyRegions* along_world = nullptr);
  const Motion& motion(int32_t body) const { return motions_[body]; }

  // Whether the body at q is inside its regions.
  bool Cover(int32_t body, const VecX& q);
  // The motion last measured: all of it, or its start alone if it is far.
  bool CoverMotion(int32_t body, double far) const;
  // Around that motion; the anchors are its end.
  void Renew(int32_t body, double margin, double far);
  // Once a step, after MeasureMotion: counts the steps for which regions have been too wide.
  void Watch(int32_t body, double margin, double far);

  RegionBoxes& boxes() { return boxes_; }
  const RegionBoxes& boxes() const { return boxes_; }
  Anchors& anchors() { return anchors_; }
  const Anchors& anchors() const { return anchors_; }
  // Whether the anchors are the points of the regions.
  bool anchored(int32_t body) const { return bodies_[body].anchored; }
  // Moves the anchors of bodies that are farther than `slack` m from them to q.
  void MoveAnchors(const VecX& q, double slack);
  // By how much the last MoveAnchors moved those of a body, m; 0: not at all.
  double anchors_moved(int32_t body) const { return bodies_[body].moved; }

 private:
  struct Body {
    WidthWatch width;
    bool anchored = false;
    double moved = 0;
  };
  ViewFrames frames_;
  std::vector<uint8_t> wanted_;
  const SurfaceSummaries* summaries_;
  RegionBoxes boxes_;
  Anchors anchors_;
  std::vector<Body> bodies_;
  std::vector<Motion> motions_;
  VecX here_, there_;  // the nodes of that motion, seen from the frames, m
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_BODY_REGIONS_H_
