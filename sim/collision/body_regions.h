#ifndef EIPC_SIM_COLLISION_BODY_REGIONS_H_
#define EIPC_SIM_COLLISION_BODY_REGIONS_H_

#include <cstdint>
#include <vector>

#include "sim/collision/anchors.h"
#include "sim/collision/region_boxes.h"
#include "sim/collision/region_width.h"
#include "sim/collision/seen_state.h"
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

  // The nodes of all bodies at q. Those of the motion last measured are known, and so are those last asked for. `along_world`,
  // where given, is the same state as bodies see it along the world's axes, whose centroids are known. Valid until the next call or
  // measurement.
  const SeenState& See(const VecX& q, const SeenState* along_world = nullptr);

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
  // `along_world`, where given: another that has measured the same motion.
  void MeasureMotion(const VecX& here, const VecX& there, const BodyRegions* along_world = nullptr);
  const Motion& motion(int32_t body) const { return motions_[body]; }

  // Whether the body is inside its regions in this state.
  bool Cover(int32_t body, const SeenState& seen) const;
  // The motion last measured: all of it, or its start alone if it is far.
  bool CoverMotion(int32_t body, double far) const;
  // Around that motion; the anchors are its end, or its start if it is far or `at_start` says so.
  void Renew(int32_t body, double margin, double far, bool at_start);
  // Once a step, after MeasureMotion: counts the steps for which regions have been too wide.
  void Watch(int32_t body, double margin, double far);

  RegionBoxes& boxes() { return boxes_; }
  const RegionBoxes& boxes() const { return boxes_; }
  Anchors& anchors() { return anchors_; }
  const Anchors& anchors() const { return anchors_; }
  // Whether the anchors are the points of the regions.
  bool anchored(int32_t body) const { return bodies_[body].anchored; }
  // Moves the anchors of bodies that are farther than `slack` m from them to this state.
  void MoveAnchors(const SeenState& seen, double slack);
  // By how much the last MoveAnchors moved those of a body, m; 0: not at all.
  double anchors_moved(int32_t body) const { return bodies_[body].moved; }

 private:
  struct Body {
    WidthWatch width;
    bool anchored = false;
    double moved = 0;
  };
  Motion Between(int32_t body) const;  // here_ and there_
  void Fill(const VecX& q, const SeenState* along_world, SeenState* out);

  ViewFrames frames_;
  std::vector<uint8_t> wanted_;
  const SurfaceSummaries* summaries_;
  RegionBoxes boxes_;
  Anchors anchors_;
  std::vector<Body> bodies_;
  std::vector<Motion> motions_;
  SeenState here_, there_;  // the ends of that motion
  SeenState other_;         // of the last See that they did not answer
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_BODY_REGIONS_H_
