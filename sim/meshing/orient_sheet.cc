#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/meshing/sheet_steps.h"

namespace eipc {
namespace {

using EdgeKey = std::pair<int32_t, int32_t>;
using Users = std::map<EdgeKey, std::vector<int32_t>>;

EdgeKey KeyOf(int32_t a, int32_t b) { return {std::min(a, b), std::max(a, b)}; }

Users UsersOf(const std::vector<Triangle>& triangles) {
  Users users;
  for (size_t t = 0; t < triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) users[KeyOf(triangles[t][k], triangles[t][(k + 1) % 3])].push_back(static_cast<int32_t>(t));
  }
  return users;
}

bool RunsAlong(const Triangle& t, int32_t a, int32_t b) {
  return (t[0] == a && t[1] == b) || (t[1] == a && t[2] == b) || (t[2] == a && t[0] == b);
}

std::string Point(const Vec3& p) { return absl::StrFormat("(%.4g, %.4g, %.4g) m", p.x(), p.y(), p.z()); }

}  // namespace

std::vector<bool> BorderVertices(const MeshData& mesh) {
  std::vector<bool> border(mesh.vertices.size(), false);
  for (const auto& [edge, along] : UsersOf(mesh.triangles)) {
    if (along.size() == 1) border[edge.first] = border[edge.second] = true;
  }
  return border;
}

int CountBorders(const MeshData& mesh) {
  std::vector<std::vector<int32_t>> next(mesh.vertices.size());
  for (const auto& [edge, along] : UsersOf(mesh.triangles)) {
    if (along.size() != 1) continue;
    next[edge.first].push_back(edge.second);
    next[edge.second].push_back(edge.first);
  }
  std::vector<bool> seen(next.size(), false);
  int loops = 0;
  for (size_t v = 0; v < next.size(); ++v) {
    if (seen[v] || next[v].empty()) continue;
    ++loops;
    std::vector<int32_t> open = {static_cast<int32_t>(v)};
    while (!open.empty()) {
      const int32_t at = open.back();
      open.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      open.insert(open.end(), next[at].begin(), next[at].end());
    }
  }
  return loops;
}

absl::Status CheckManifold(const MeshData& mesh) {
  const Users users = UsersOf(mesh.triangles);
  int64_t crowded = 0;
  const EdgeKey* first = nullptr;
  std::vector<int32_t> borders_at(mesh.vertices.size(), 0);
  for (const auto& [edge, along] : users) {
    if (along.size() > 2 && ++crowded == 1) first = &edge;
    if (along.size() != 1) continue;
    ++borders_at[edge.first];
    ++borders_at[edge.second];
  }
  if (crowded > 0) {
    return absl::InvalidArgumentError(absl::StrCat(crowded, " edges have three triangles or more, the first at ",
                                                   Point(mesh.vertices[first->first]),
                                                   "; a shell has at most two at an edge: split it into sheets that are joined"));
  }
  for (size_t v = 0; v < borders_at.size(); ++v) {
    if (borders_at[v] <= 2) continue;
    return absl::InvalidArgumentError(absl::StrCat("parts of the sheet meet in a single vertex at ", Point(mesh.vertices[v]),
                                                   "; join them along an edge or move them apart"));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> OrientSheet(MeshData* mesh) {
  const Users users = UsersOf(mesh->triangles);
  std::vector<int8_t> turn(mesh->triangles.size(), -1);  // 1: to be turned
  int turned = 0;
  for (size_t start = 0; start < turn.size(); ++start) {
    if (turn[start] >= 0) continue;
    turn[start] = 0;
    std::vector<int32_t> part = {static_cast<int32_t>(start)};
    int64_t ones = 0;
    for (size_t at = 0; at < part.size(); ++at) {
      const int32_t t = part[at];
      const Triangle& v = mesh->triangles[t];
      ones += turn[t];
      for (int k = 0; k < 3; ++k) {
        for (const int32_t other : users.at(KeyOf(v[k], v[(k + 1) % 3]))) {
          if (other == t) continue;
          const int8_t wanted = turn[t] ^ static_cast<int8_t>(RunsAlong(mesh->triangles[other], v[k], v[(k + 1) % 3]));
          if (turn[other] >= 0 && turn[other] != wanted) {
            return absl::InvalidArgumentError(absl::StrCat("the sheet has one side only, as a Moebius strip, which shows at ",
                                                           Point(mesh->vertices[v[k]]), "; cut it there"));
          }
          if (turn[other] < 0) part.push_back(other);
          turn[other] = wanted;
        }
      }
    }
    // The side that most triangles have stays.
    const int8_t minority = 2 * ones > static_cast<int64_t>(part.size()) ? 0 : 1;
    for (const int32_t t : part) {
      if (turn[t] != minority) continue;
      std::swap(mesh->triangles[t][1], mesh->triangles[t][2]);
      ++turned;
    }
  }
  return turned;
}

}  // namespace eipc
