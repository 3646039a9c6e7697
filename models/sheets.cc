#include "models/sheets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "models/wires.h"

namespace eipc {
namespace {

constexpr int kSides = 32;

// A surface of revolution about z, closed at both ends, whose profile (radius, z) goes upwards from pole to pole.
MeshData Revolve(const std::vector<Vec2>& profile) {
  const std::vector<Vec2> circle = UnitCircle(kSides);
  const int32_t rings = static_cast<int32_t>(profile.size()) - 2;
  MeshData mesh;
  mesh.vertices.emplace_back(0, 0, profile.front().y());
  for (int32_t r = 1; r <= rings; ++r) {
    for (const Vec2& c : circle) mesh.vertices.emplace_back(profile[r].x() * c.x(), profile[r].x() * c.y(), profile[r].y());
  }
  const int32_t top = static_cast<int32_t>(mesh.vertices.size());
  mesh.vertices.emplace_back(0, 0, profile.back().y());
  for (int32_t s = 0; s < kSides; ++s) {
    const int32_t next = (s + 1) % kSides, last = 1 + (rings - 1) * kSides;
    mesh.triangles.push_back({0, 1 + next, 1 + s});
    for (int32_t r = 0; r + 1 < rings; ++r) {
      const int32_t a = 1 + r * kSides + s, b = 1 + r * kSides + next;
      mesh.triangles.push_back({a, b, b + kSides});
      mesh.triangles.push_back({a, b + kSides, a + kSides});
    }
    mesh.triangles.push_back({last + s, last + next, top});
  }
  return mesh;
}

// Triangles between two lines of vertices, by the shorter of the two next diagonals.
void Join(const std::vector<int32_t>& low, const std::vector<int32_t>& high, MeshData* mesh) {
  size_t a = 0, b = 0;
  const auto x = [mesh](const std::vector<int32_t>& line, size_t k) {
    return k < line.size() ? mesh->vertices[line[k]].x() : std::numeric_limits<double>::infinity();
  };
  while (a + 1 < low.size() || b + 1 < high.size()) {
    if (x(low, a + 1) <= x(high, b + 1)) {
      mesh->triangles.push_back({low[a], low[a + 1], high[b]});
      ++a;
    } else {
      mesh->triangles.push_back({low[a], high[b + 1], high[b]});
      ++b;
    }
  }
}

}  // namespace

MeshData Towel(double side, int cells) {
  const double edge = side / cells;
  const int rows = static_cast<int>(std::lround(side / (edge * std::sqrt(0.75))));
  MeshData mesh;
  std::vector<std::vector<int32_t>> lines(rows + 1);
  const auto add = [&](int row, double x) {
    lines[row].push_back(static_cast<int32_t>(mesh.vertices.size()));
    mesh.vertices.emplace_back(x - side / 2, side * row / rows - side / 2, 0);
  };
  for (int j = 0; j <= rows; ++j) {
    if (j % 2 == 0) {
      for (int i = 0; i <= cells; ++i) add(j, edge * i);
    } else {
      add(j, 0);
      for (int i = 0; i < cells; ++i) add(j, edge * (i + 0.5));
      add(j, side);
    }
  }
  for (int j = 0; j < rows; ++j) Join(lines[j], lines[j + 1], &mesh);
  return mesh;
}

MeshData Pouch() {
  constexpr int kCells = 12;
  constexpr double kHalfWidth = 0.07, kHeight = 0.13, kBulge = 0.01;
  MeshData mesh;
  std::vector<int32_t> front, back;
  for (const int side : {1, -1}) {
    for (int j = 0; j <= kCells; ++j) {
      for (int i = 0; i <= kCells; ++i) {
        std::vector<int32_t>& sheet = side > 0 ? front : back;
        if (side < 0 && (i == 0 || i == kCells || j == 0)) {
          sheet.push_back(front[j * (kCells + 1) + i]);  // sewn
          continue;
        }
        const double x = 2.0 * i / kCells - 1, z = 1.0 * j / kCells;
        sheet.push_back(static_cast<int32_t>(mesh.vertices.size()));
        mesh.vertices.emplace_back(kHalfWidth * x, side * kBulge * (1 - x * x) * (1 - (1 - z) * (1 - z)), kHeight * z);
      }
    }
  }
  const auto add = [&mesh](bool turned, int32_t a, int32_t b, int32_t c) {
    mesh.triangles.push_back(turned ? Triangle{a, c, b} : Triangle{a, b, c});
  };
  for (const std::vector<int32_t>* sheet : {&front, &back}) {
    const bool turned = sheet == &front;
    for (int j = 0; j < kCells; ++j) {
      for (int i = 0; i < kCells; ++i) {
        const int at = j * (kCells + 1) + i;
        const int32_t a = (*sheet)[at], b = (*sheet)[at + 1], c = (*sheet)[at + kCells + 1], d = (*sheet)[at + kCells + 2];
        // In this corner a triangle of the other diagonal would lie on the seams alone, in both sheets.
        const bool corner = i == kCells - 1 && j == 0;
        add(turned, a, b, corner ? c : d);
        if (corner) {
          add(turned, b, d, c);
        } else {
          add(turned, a, d, c);
        }
      }
    }
  }
  return mesh;
}

MeshData Sleeve() {
  constexpr int kRows = 24;
  constexpr double kLength = 0.14, kRadius = 0.0335, kFlare = 0.0085, kFlareLength = 0.05;
  const std::vector<Vec2> circle = UnitCircle(2 * kSides);
  MeshData mesh;
  for (int j = 0; j <= kRows; ++j) {
    const double z = kLength * j / kRows, radius = kRadius + kFlare * std::max(0.0, 1 - z / kFlareLength);
    for (int s = 0; s < kSides; ++s) {
      const Vec2& c = circle[2 * s + j % 2];
      mesh.vertices.emplace_back(radius * c.x(), radius * c.y(), z);
    }
  }
  for (int32_t j = 0; j < kRows; ++j) {
    for (int32_t s = 0; s < kSides; ++s) {
      const int32_t a = j * kSides + s, b = j * kSides + (s + 1) % kSides, c = a + kSides, d = b + kSides;
      if (j % 2 == 0) {
        mesh.triangles.insert(mesh.triangles.end(), {{a, b, c}, {b, d, c}});
      } else {
        mesh.triangles.insert(mesh.triangles.end(), {{a, b, d}, {a, d, c}});
      }
    }
  }
  return mesh;
}

MeshData Capsule() {
  constexpr double kRadius = 0.035, kLength = 0.12;
  const std::vector<Vec2> circle = UnitCircle(kSides);
  std::vector<Vec2> profile = {Vec2(0, -kRadius)};
  for (int k = 1; k <= kSides / 4; ++k) profile.emplace_back(kRadius * circle[k].y(), -kRadius * circle[k].x());
  for (int k = 0; k < kSides / 4; ++k) profile.emplace_back(kRadius * circle[k].x(), kLength + kRadius * circle[k].y());
  profile.emplace_back(0, kLength + kRadius);
  return Revolve(profile);
}

MeshData SmallBall() {
  constexpr double kRadius = 0.02;
  const std::vector<Vec2> circle = UnitCircle(kSides);
  std::vector<Vec2> profile = {Vec2(0, -kRadius)};
  for (int k = 1; k < kSides / 2; ++k) profile.emplace_back(kRadius * circle[k].y(), -kRadius * circle[k].x());
  profile.emplace_back(0, kRadius);
  return Revolve(profile);
}

MeshData Bar() {
  constexpr double kRadius = 0.02, kHalf = 0.25;
  MeshData mesh = Revolve({Vec2(0, -kHalf), Vec2(kRadius, -kHalf), Vec2(kRadius, kHalf), Vec2(0, kHalf)});
  for (Vec3& p : mesh.vertices) p = Vec3(p.y(), p.z(), p.x());
  return mesh;
}

MeshData Box(const Vec3& low, const Vec3& high) {
  MeshData box;
  for (int i = 0; i < 8; ++i) {
    box.vertices.emplace_back(i & 1 ? high.x() : low.x(), i & 2 ? high.y() : low.y(), i & 4 ? high.z() : low.z());
  }
  box.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                   {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return box;
}

}  // namespace eipc
