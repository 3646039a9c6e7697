#include "tests/sim/geometry/ccd_adversarial.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace eipc::ccd_test {
namespace {

// SplitMix64: the standard library's distributions differ between implementations.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u) {}
  uint64_t Bits() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  int Below(int n) { return static_cast<int>(Bits() % n); }
  bool Coin() { return Below(2) == 0; }
  double Uniform(double lo, double hi) { return lo + (hi - lo) * static_cast<double>(Bits() >> 11) * 0x1p-53; }
  double Power(double lo, double hi) { return std::pow(10.0, Uniform(lo, hi)); }
  Vec3 Cube(double half) { return {Uniform(-half, half), Uniform(-half, half), Uniform(-half, half)}; }
  Vec3 Lattice(int half) { return Vec3(Below(2 * half + 1) - half, Below(2 * half + 1) - half, Below(2 * half + 1) - half); }

 private:
  uint64_t state_;
};

double MoveByUlps(double x, int ulps) {
  for (; ulps > 0; --ulps) x = std::nextafter(x, INFINITY);
  for (; ulps < 0; ++ulps) x = std::nextafter(x, -INFINITY);
  return x;
}

void MoveByUlps(Random* random, int most, std::array<Vec3, 4>* x) {
  for (Vec3& v : *x) {
    for (int k = 0; k < 3; ++k) v[k] = MoveByUlps(v[k], random->Below(2 * most + 1) - most);
  }
}

bool IsFirst(const CcdQuery& q, int vertex) { return vertex == 0 || (vertex == 1 && q.kind == CcdKind::kEdgeEdge); }

// A stencil that touches, about: the contact point is inside, on an edge or at a vertex.
std::array<Vec3, 4> TouchingStencil(Random* random, CcdKind kind, double size) {
  std::array<Vec3, 4> x = {random->Cube(size), random->Cube(size), random->Cube(size), random->Cube(size)};
  const int choice = random->Below(4);
  double s = random->Uniform(0, 1), t = random->Uniform(0, 1);
  if (choice == 0) s = 0;
  if (choice == 1) s = 0, t = random->Coin();
  if (kind == CcdKind::kPointTriangle) {
    if (s + t > 1) s = 1 - s, t = 1 - t;
    x[0] = x[1] + s * (x[2] - x[1]) + t * (x[3] - x[1]);
  } else {
    const Vec3 shift = x[0] + s * (x[1] - x[0]) - (x[2] + t * (x[3] - x[2]));
    x[2] += shift, x[3] += shift;
  }
  return x;
}

void Grazing(Random* random, CcdQuery* q) {
  const double size = random->Power(-4, 1), speed = size * random->Power(-6, 2), when = random->Uniform(0, 1.1);
  const std::array<Vec3, 4> touching = TouchingStencil(random, q->kind, size);
  for (int i = 0; i < 4; ++i) {
    const Vec3 v = random->Cube(speed);
    q->start[i] = touching[i] - when * v;
    q->end[i] = touching[i] + (1 - when) * v;
  }
  if (random->Coin()) MoveByUlps(random, 3, random->Coin() ? &q->start : &q->end);
}

// Along z, through or back from a gap of a few ulp of the coordinates.
void UlpGap(Random* random, CcdQuery* q) {
  const double offset = random->Coin() ? 0 : random->Power(-3, 4), size = random->Coin() ? 1 : random->Power(-3, 1);
  const bool edges = q->kind == CcdKind::kEdgeEdge;
  const double inside = random->Uniform(-0.2, 0.2) * size;
  if (edges) {
    q->start = {Vec3(-size, inside, 0), Vec3(size, inside, 0), Vec3(inside, -size, 0), Vec3(inside, size, 0)};
  } else {
    q->start = {Vec3(inside, inside, 0), Vec3(-size, -size, 0), Vec3(size, -size, 0), Vec3(0, size, 0)};
  }
  for (Vec3& v : q->start) v += Vec3(offset, random->Coin() ? offset : 0, offset);
  q->end = q->start;
  const int gap = 1 + random->Below(random->Coin() ? 8 : 300), travel = random->Below(3 * gap + 2) - gap / 2;
  const double jump = random->Below(4) == 0 ? random->Power(-12, 3) : 0;
  const Vec3 slide = random->Coin() ? Vec3::Zero() : random->Cube(random->Power(-15, -1));
  for (int i = 0; i < 4; ++i) {
    if (IsFirst(*q, i)) {
      q->start[i].z() = MoveByUlps(q->start[i].z(), gap);
      q->end[i].z() = MoveByUlps(q->start[i].z(), -travel) - jump;
    }
    q->end[i] += slide;
  }
}

void Generic(Random* random, CcdQuery* q) {
  const double size = random->Power(-13, 6), travel = size * random->Power(-8, 3);
  const Vec3 offset = random->Coin() ? Vec3::Zero() : random->Cube(size * random->Power(0, 9));
  for (int i = 0; i < 4; ++i) {
    q->start[i] = random->Cube(size) + offset;
    q->end[i] = q->start[i] + random->Cube(travel);
  }
}

// Small integers: exact contacts, tangencies, coplanar and collinear motion, parallel edges, coincident vertices.
void Lattice(Random* random, CcdQuery* q) {
  const int half = 1 + random->Below(3);
  const double scale = std::ldexp(1.0, random->Below(40) - 30);
  const Vec3 offset = random->Coin() ? Vec3::Zero() : Vec3(std::ldexp(1.0, random->Below(20)) * random->Lattice(2));
  const bool flat = random->Coin(), same = random->Below(4) == 0;
  const Vec3 common = random->Lattice(half);
  for (int i = 0; i < 4; ++i) {
    q->start[i] = random->Lattice(half);
    q->end[i] = same ? Vec3(q->start[i] + (IsFirst(*q, i) ? common : Vec3(Vec3::Zero()))) : random->Lattice(half);
    if (flat) q->start[i].z() = q->end[i].z() = 0;
    q->start[i] = scale * q->start[i] + offset;
    q->end[i] = scale * q->end[i] + offset;
  }
  if (random->Below(4) == 0) MoveByUlps(random, 1, &q->start);
}

// Some family's query with vertices made equal, collinear or nearly so, at the start, at the end or at both.
void Degenerate(Random* random, CcdQuery* q) {
  random->Coin() ? Grazing(random, q) : Generic(random, q);
  const int when = 1 + random->Below(3), last = q->kind == CcdKind::kEdgeEdge ? 1 + 2 * random->Below(2) : 3;
  const double part = random->Coin() ? random->Below(2) : random->Uniform(-1, 2);
  for (std::array<Vec3, 4>* x : {&q->start, &q->end}) {
    if (!(when & (x == &q->start ? 1 : 2))) continue;
    if (q->kind == CcdKind::kEdgeEdge) {
      (*x)[last] = (*x)[last - 1] + (random->Coin() ? 0 : 1e-14) * random->Cube(1);
    } else {
      (*x)[3] = (*x)[1] + part * ((*x)[2] - (*x)[1]) + (random->Coin() ? 0 : 1e-14) * random->Cube(1);
    }
  }
}

// Edges that stay parallel or nearly so; a point that stays near the triangle's plane.
void NearlyParallel(Random* random, CcdQuery* q) {
  const double size = random->Power(-3, 1), gap = size * random->Power(-15, -2),
               noise = random->Coin() ? 0 : size * random->Power(-16, -6);
  const Vec3 along = random->Cube(size), up = random->Cube(gap), slide = random->Cube(size * random->Power(-3, 1));
  const double travel = random->Uniform(-1, 3);
  for (int i = 0; i < 4; ++i) {
    const bool first = IsFirst(*q, i);
    q->start[i] = random->Uniform(-1, 1) * along + (first ? up : Vec3(Vec3::Zero())) + random->Cube(noise);
    if (q->kind == CcdKind::kPointTriangle) q->start[i] += random->Uniform(-1, 1) * slide;
    q->end[i] = q->start[i] + random->Cube(noise) + (first ? Vec3(slide - travel * up) : Vec3(Vec3::Zero()));
  }
}

void FarOffset(Random* random, CcdQuery* q) {
  Grazing(random, q);
  const Vec3 start = random->Cube(random->Power(0, 8)), end = random->Coin() ? start : random->Cube(random->Power(0, 8));
  for (int i = 0; i < 4; ++i) q->start[i] += start, q->end[i] += end;
}

}  // namespace

CcdQuery AdversarialQuery(uint64_t seed) {
  Random random(seed);
  CcdQuery q;
  q.kind = random.Coin() ? CcdKind::kEdgeEdge : CcdKind::kPointTriangle;
  constexpr void (*kFamilies[])(Random*, CcdQuery*) = {Grazing, UlpGap, Generic, Lattice, Degenerate, NearlyParallel, FarOffset};
  kFamilies[random.Below(std::size(kFamilies))](&random, &q);
  return q;
}

std::string ToString(const CcdQuery& query) {
  std::string text = query.kind == CcdKind::kEdgeEdge ? "edge-edge" : "point-triangle";
  for (const auto* x : {&query.start, &query.end}) {
    for (const Vec3& v : *x) absl::StrAppendFormat(&text, "\n  Vec3(%a, %a, %a)", v.x(), v.y(), v.z());
  }
  return text;
}

}  // namespace eipc::ccd_test
