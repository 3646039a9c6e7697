// What cameras see: closed forms, which body, what a camera moves with, and that nothing but model, state and camera changes a bit.
#include "sim/sensor/camera.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "tests/sim/mesh/shapes.h"
#include "tests/sim/sensor/moving_bodies.h"

namespace eipc {
namespace {

using ::testing::Each;

// Of a camera at `eye` that looks at `target`, the picture's upper edge towards z.
Pose LookAt(const Vec3& eye, const Vec3& target) {
  const Vec3 z = (target - eye).normalized(), x = z.cross(Vec3::UnitZ()).normalized();
  Mat3 axes;
  axes << x, z.cross(x), z;
  return {eye, Quat(axes)};
}

Camera AllOf(const Pose& pose, int32_t width = 160, int32_t height = 120) {
  Camera camera;
  camera.pose = pose;
  camera.width = width;
  camera.height = height;
  camera.fov_y_rad = 0.8;
  camera.depth = camera.segmentation = camera.colour = true;
  return camera;
}

double Focal(const Camera& camera) { return 0.5 * camera.height / std::tan(0.5 * camera.fov_y_rad); }

// Through a pixel's centre, 1 along the camera's z: written down here once more.
Vec3 DirectionOf(const Camera& camera, int32_t pixel) {
  const int32_t row = pixel / camera.width;
  const double u = pixel % camera.width + 0.5, v = row + 0.5;
  return camera.pose.rotation * Vec3((u - 0.5 * camera.width) / Focal(camera), (v - 0.5 * camera.height) / Focal(camera), 1);
}

std::unique_ptr<CameraScene> SceneOf(const World& world) {
  absl::StatusOr<std::unique_ptr<CameraScene>> scene = CameraScene::Create(world.model());
  EXPECT_TRUE(scene.ok()) << scene.status();
  if (!scene.ok()) return nullptr;
  EXPECT_TRUE((*scene)->Follow(world).ok());
  return *std::move(scene);
}

Picture Drawn(const CameraScene& scene, const Camera& camera, int threads = 1) {
  ThreadPool pool(threads);
  Picture picture;
  EXPECT_TRUE(scene.Draw(camera, &pool, nullptr, &picture).ok());
  return picture;
}

Picture DrawnAnew(const World& world, const Camera& camera) { return Drawn(*SceneOf(world), camera); }

void ExpectSameBits(const Picture& a, const Picture& b) {
  ASSERT_EQ(a.depth.size(), b.depth.size());
  EXPECT_EQ(std::memcmp(a.depth.data(), b.depth.data(), a.depth.size() * sizeof(float)), 0);
  EXPECT_EQ(a.segmentation, b.segmentation);
  EXPECT_EQ(a.colour, b.colour);
}

int Shows(const Picture& picture, int body) {
  return static_cast<int>(std::count(picture.segmentation.begin(), picture.segmentation.end(), body));
}

constexpr int kFloor = 0, kBall = 1;
const Vec3 kCentre(0, 0, 0.5);
constexpr double kRadius = 0.2;

SceneSpec BallOverFloor() {
  SceneSpec spec = testing::EmptyScene();
  BodySpec ball;
  ball.name = "ball";
  ball.kind = BodyKind::kKinematic;
  ball.mesh = testing::Sphere(Vec3::Zero(), kRadius, 5);
  ball.pose.position = kCentre;
  spec.bodies = {testing::StaticSheet("floor", 20), ball};
  return spec;
}

TEST(Camera, SeesASphereAndAPlaneWithinHalfAPixel) {
  const World world(testing::Compile(BallOverFloor()));
  const Camera camera = AllOf(LookAt(Vec3(1.6, 0.3, 0.9), kCentre));
  const Picture picture = DrawnAnew(world, camera);
  int inner = 0, plane = 0;
  for (int32_t i = 0; i < camera.width * camera.height; ++i) {
    const Vec3 direction = DirectionOf(camera, i), to_centre = kCentre - camera.pose.position;
    const double along = direction.dot(to_centre) / direction.squaredNorm();
    const double miss = (along * direction - to_centre).norm(), pixel = along / Focal(camera);
    if (std::abs(miss - kRadius) > 0.5 * pixel) {
      ASSERT_EQ(picture.segmentation[i] == kBall, miss < kRadius) << i;
    }
    if (picture.segmentation[i] == kFloor) {
      ++plane;
      const double exact = -camera.pose.position.z() / direction.z();
      ASSERT_NEAR(picture.depth[i], exact, 1e-7 * exact) << "the rounding of a float alone";
    } else if (picture.segmentation[i] == kBall && miss < 0.9 * kRadius) {
      ++inner;
      const double half = std::sqrt((kRadius * kRadius - miss * miss) / direction.squaredNorm());
      ASSERT_NEAR(picture.depth[i], along - half, 5e-4) << "the mesh lies 1e-4 m inside the sphere, more along slanted rays";
    } else if (picture.segmentation[i] == kNoBody) {
      ASSERT_TRUE(std::isinf(picture.depth[i]));
      ASSERT_GE(direction.z(), -0.06) << "the floor ends 20 m from its middle";
    }
  }
  EXPECT_GT(inner, 500);
  EXPECT_GT(plane, 5000);
  // Of the body's colour, brightest where the surface faces the camera, at the middle.
  const size_t middle = 3 * (60 * 160 + 80);
  EXPECT_NEAR(picture.colour[middle], 255 * 0.35, 1.5);
  EXPECT_NEAR(picture.colour[middle + 2], 255 * 0.85, 2.5);
}

// A kilometre up the tracer's camera is 0.06 mm over a floor, and the true one 0.04: along this ray, which the tracer has meet the
// floor 1.2 m away, its plane is 0.8 m away, where the floor has not begun.
TEST(Camera, DepthIsOfATriangleHoweverFlatTheRay) {
  SceneSpec spec = testing::EmptyScene();
  spec.bodies = {testing::StaticSheet("floor", 1)};
  spec.bodies[0].pose.position.z() = 1000;
  const World world(testing::Compile(spec));
  const Vec3 eye(-2, 0, 1000 + 4e-5);
  Camera camera = AllOf(LookAt(eye, eye + Vec3::UnitX()), 2, 2);
  camera.fov_y_rad = 2e-4;
  const Picture picture = DrawnAnew(world, camera);
  for (const int pixel : {2, 3}) {  // the lower ones
    ASSERT_EQ(picture.segmentation[pixel], kFloor);
    EXPECT_NEAR(picture.depth[pixel], 1, 1e-6);
  }
}

TEST(Camera, SeesFromNearToFarOnly) {
  const World world(testing::Compile(BallOverFloor()));
  Camera camera = AllOf(LookAt(Vec3(1.6, 0.3, 0.9), kCentre));
  const int whole = Shows(DrawnAnew(world, camera), kBall);
  camera.far_m = 1.0;
  const Picture nothing = DrawnAnew(world, camera);
  EXPECT_THAT(nothing.segmentation, Each(kNoBody));
  EXPECT_THAT(nothing.depth, Each(std::numeric_limits<float>::infinity()));
  EXPECT_THAT(nothing.colour, Each(255));
  camera.far_m = std::numeric_limits<double>::infinity();
  camera.near_m = (kCentre - camera.pose.position).norm();
  const Picture inside = DrawnAnew(world, camera);
  EXPECT_GT(Shows(inside, kBall), 0.8 * whole) << "the far side of the ball, from within";
  EXPECT_GE(*std::min_element(inside.depth.begin(), inside.depth.end()), static_cast<float>(camera.near_m));
  EXPECT_NEAR(inside.depth[60 * 160 + 80], camera.near_m + kRadius, 1e-3);
  camera = AllOf(camera.pose);
  camera.depth = camera.colour = false;
  const Picture one = DrawnAnew(world, camera);
  EXPECT_TRUE(one.depth.empty() && one.colour.empty());
  EXPECT_EQ(Shows(one, kBall), whole);
}

TEST(Camera, MovesWithItsBody) {
  World world(testing::Compile(BallOverFloor()));
  // Under the ball, looking down: x as the ball's, y against it.
  Camera camera = AllOf({Vec3(0, 0, -0.25), Quat(0, 1, 0, 0)}, 32, 32);
  camera.body = kBall;
  const auto scene = SceneOf(world);
  EXPECT_THAT(Drawn(*scene, camera).depth, Each(0.25F));
  const Pose motion = {Vec3(0.5, -0.3, 0.4), Quat(Eigen::AngleAxisd(0.3, Vec3::UnitX()))};
  const Pose about = Pose{kCentre + motion.position, motion.rotation} * Pose{-kCentre, Quat::Identity()};
  ASSERT_TRUE(world.Restore(testing::MovedRigidly(world.model(), kBall, about, Vec3::Zero(), Vec3::Zero(), Vec3::Zero())).ok());
  ASSERT_TRUE(scene->Follow(world).ok());
  const Pose where = scene->PoseOf(camera);
  const Vec3 expected = kCentre + motion.position + motion.rotation * Vec3(0, 0, -0.25);
  EXPECT_LT((where.position - expected).norm(), 1e-12);
  Camera fixed = camera;
  fixed.body = -1;
  fixed.pose = where;
  const Picture picture = Drawn(*scene, camera);
  ExpectSameBits(picture, Drawn(*scene, fixed));
  const Vec3 direction = DirectionOf(fixed, 16 * 32 + 16);
  EXPECT_NEAR(picture.depth[16 * 32 + 16], -expected.z() / direction.z(), 1e-6);
}

// Every kind of body, moved; from a point from which all of them show.
TEST(Camera, NeitherThreadsNorHistoryChangeABit) {
  const auto model = testing::Compile(testing::OneOfEachKind());
  const Camera camera = AllOf(LookAt(Vec3(1.2, -2.5, 1.1), Vec3(1.25, 0.1, -0.2)), 320, 240);
  World world(model);
  const auto kept = SceneOf(world);
  const Picture start = Drawn(*kept, camera);
  for (int body = 0; body < 6; ++body) EXPECT_GT(Shows(start, body), 20) << body;
  ExpectSameBits(start, Drawn(*kept, camera, 2));
  testing::Random random(3);
  for (const int body : {testing::kFull, testing::kEmbedded, testing::kAffine, testing::kKinematic, testing::kOpenKinematic}) {
    const Pose motion = {Vec3(0.1, 0.2, 0.3), random.Rotation()};
    const State moved = testing::MovedRigidly(*model, body, motion, Vec3::Zero(), Vec3::Zero(), Vec3::Zero());
    ASSERT_TRUE(world.Restore(moved).ok());
    ASSERT_TRUE(kept->Follow(world).ok());
    const Picture picture = Drawn(*kept, camera, 2);
    EXPECT_NE(picture.segmentation, start.segmentation) << body;
    World restored(model);
    ASSERT_TRUE(restored.Restore(moved).ok());
    ExpectSameBits(picture, DrawnAnew(restored, camera));
  }
  world.Reset();
  ASSERT_TRUE(kept->Follow(world).ok());
  ExpectSameBits(start, Drawn(*kept, camera));
}

TEST(Camera, StopsWhenItIsInterrupted) {
  const World world(testing::Compile(BallOverFloor()));
  const auto scene = SceneOf(world);
  const Camera camera = AllOf(LookAt(Vec3(1.6, 0.3, 0.9), kCentre), 400, 400);
  int asked = 0;
  Interrupt interrupt;
  const Interrupt::Watch watch(&interrupt, [&asked] { return ++asked > 20 ? absl::CancelledError("over") : absl::OkStatus(); });
  ThreadPool pool(1);
  Picture picture;
  EXPECT_EQ(scene->Draw(camera, &pool, &interrupt, &picture).code(), absl::StatusCode::kCancelled);
  EXPECT_LE(asked, 22) << "rows were drawn on";
  EXPECT_EQ(picture.segmentation.back(), kNoBody);
}

// Prints what there is, of one large body and of many small ones.
TEST(Camera, HoldsNoMoreThanItsEstimate) {
  for (const int bodies : {1, 200}) {
    SceneSpec spec = testing::EmptyScene();
    for (int i = 0; i < bodies; ++i) {
      BodySpec ball;
      ball.name = absl::StrCat("ball ", i);
      ball.kind = i % 2 == 0 ? BodyKind::kKinematic : BodyKind::kStatic;
      ball.mesh = testing::Sphere(Vec3::Zero(), 0.4, bodies == 1 ? 6 : 1);
      const int row = i / 20;
      ball.pose.position = Vec3(i % 20, row, 0);
      spec.bodies.push_back(ball);
    }
    World world(testing::Compile(spec));
    const auto scene = SceneOf(world);
    const int64_t estimate = CameraScene::EstimateBytes(world.model());
    std::printf("%d bodies, %zu triangles: %.2f MiB, estimate %.2f MiB\n", bodies, world.model().surface.triangles.size(),
                static_cast<double>(scene->peak_bytes()) / (1 << 20), static_cast<double>(estimate) / (1 << 20));
    EXPECT_LE(scene->peak_bytes(), estimate);
    EXPECT_LE(estimate, 4 * scene->peak_bytes());
  }
}

TEST(RayScene, RefusesWhatIsLargerThanItsBound) {
  const MeshData ball = testing::Sphere(Vec3::Zero(), 1, 5);
  const RaySurface surface = {ball.triangles, 0, static_cast<int32_t>(ball.vertices.size()), true};
  EXPECT_EQ(MakeRayScene({surface}, ball.vertices, 100'000).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(MakeRayScene({surface}, ball.vertices, 100'000'000).ok());
  EXPECT_TRUE(MakeRayScene({}, {}, 1'000'000).ok()) << "a scene without surfaces";
}

// Numbers that a world which has come to harm may have.
TEST(RayScene, PositionsMayBeFarAway) {
  MeshData ball = testing::Sphere(Vec3::Zero(), 1, 2);
  const RaySurface surface = {ball.triangles, 0, static_cast<int32_t>(ball.vertices.size()), true};
  auto scene = MakeRayScene({surface}, ball.vertices, 100'000'000);
  ASSERT_TRUE(scene.ok());
  const Ray ray = {{-5, 0.01F, 0.02F}, {1, 0, 0}, 0, 100};
  RayHit hit;
  (*scene)->Trace(&ray, 1, &hit);
  EXPECT_EQ(hit.surface, 0);
  for (const double far : {1e12, 1e300}) {
    std::vector<Vec3> moved = ball.vertices;
    for (Vec3& x : moved) x.x() += far;
    ASSERT_TRUE((*scene)->MoveTo(moved).ok());
    (*scene)->Trace(&ray, 1, &hit);
    EXPECT_EQ(hit.surface, -1) << far;
  }
  ASSERT_TRUE((*scene)->MoveTo(ball.vertices).ok());
  (*scene)->Trace(&ray, 1, &hit);
  EXPECT_EQ(hit.surface, 0);
}

}  // namespace
}  // namespace eipc
