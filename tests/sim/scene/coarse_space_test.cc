#include "sim/scene/coarse_space.h"

#include <gtest/gtest.h>

namespace eipc {
namespace {

BodySpec Embedded(int cage_vertices) {
  BodySpec spec;
  spec.kind = BodyKind::kEmbedded;
  spec.cage_vertices = cage_vertices;
  return spec;
}

TEST(DefaultCoarseSpace, IsCondensedWhereThatCanBeHad) {
  const int most = kMostVerticesCondensedByDefault;
  EXPECT_EQ(DefaultCoarseSpace(Embedded(most)), CoarseSpace::kCondensed);
  EXPECT_EQ(DefaultCoarseSpace(Embedded(most + 1)), CoarseSpace::kPlain);
  BodySpec authored = Embedded(0);
  authored.cage.emplace();
  authored.cage->vertices.resize(most);
  EXPECT_EQ(DefaultCoarseSpace(authored), CoarseSpace::kCondensed);
  authored.cage->vertices.resize(most + 1);
  EXPECT_EQ(DefaultCoarseSpace(authored), CoarseSpace::kPlain);
  BodySpec calibrated = Embedded(34);
  calibrated.calibration.emplace();
  EXPECT_EQ(DefaultCoarseSpace(calibrated), CoarseSpace::kPlain);
}

TEST(DefaultCoarseSpace, IsPlainForThePapersMaterialAndWhereInversionIsForbidden) {
  for (const MaterialModel model : Materials()) {
    BodySpec spec = Embedded(34);
    spec.material.model = model;
    const bool plain = model == &LinearCorotated::kDescriptor || model == &LogBarrierNeoHookean::kDescriptor;
    EXPECT_EQ(DefaultCoarseSpace(spec), plain ? CoarseSpace::kPlain : CoarseSpace::kCondensed) << model->name;
  }
}

}  // namespace
}  // namespace eipc
