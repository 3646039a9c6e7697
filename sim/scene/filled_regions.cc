#include "sim/scene/filled_regions.h"

#include <cmath>
#include <map>
#include <numeric>

namespace eipc {
namespace {

bool CheckFilling(const Filling& f, const std::string& path, Problems* problems) {
  const int64_t before = problems->count();
  if (!std::isfinite(f.overpressure_pa)) problems->Add(path + ".overpressure_pa", "must be finite");
  if (f.law == VolumeLaw::kIdealGas) {
    if (!(f.ambient_pressure_pa >= 0)) problems->Add(path + ".ambient_pressure_pa", "must be >= 0, got ", f.ambient_pressure_pa);
    if (!(f.ambient_pressure_pa + f.overpressure_pa > 0)) {
      problems->Add(path + ".overpressure_pa", "leaves no gas: ambient_pressure_pa (", f.ambient_pressure_pa,
                    ") plus it must be > 0, got ", f.overpressure_pa);
    }
  } else if (!(f.compressibility_per_pa > 0) || !std::isfinite(f.compressibility_per_pa)) {
    problems->Add(path + ".compressibility_per_pa", "must be > 0 for this law (water: 4.6e-10), got ", f.compressibility_per_pa);
  }
  return problems->count() == before;
}

// Triangles by connected part of the body's surface.
std::vector<std::vector<Triangle>> Parts(const CollisionSurface& surface, const IndexRange& triangles) {
  std::map<int32_t, int32_t> parent;
  const auto root = [&](int32_t v) {
    while (parent.emplace(v, v).first->second != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (int32_t t = triangles.begin; t < triangles.end; ++t) {
    const Triangle& corners = surface.triangles[t];
    for (int k = 1; k < 3; ++k) parent[root(corners[k])] = root(corners[0]);
  }
  std::map<int32_t, std::vector<Triangle>> parts;
  for (int32_t t = triangles.begin; t < triangles.end; ++t) parts[root(surface.triangles[t][0])].push_back(surface.triangles[t]);
  std::vector<std::vector<Triangle>> out;
  for (auto& [first, part] : parts) out.push_back(std::move(part));
  return out;
}

bool IsClosed(const std::vector<Triangle>& triangles) {
  std::map<std::pair<int32_t, int32_t>, int> uses;
  for (const Triangle& t : triangles) {
    for (int k = 0; k < 3; ++k) ++uses[{t[k], t[(k + 1) % 3]}];
  }
  for (const auto& [edge, count] : uses) {
    const auto back = uses.find({edge.second, edge.first});
    if (count != 1 || back == uses.end()) return false;
  }
  return true;
}

bool LiesIn(const SelectionBox& box, const std::vector<Triangle>& part, const std::vector<Vec3>& positions, const Pose& pose) {
  const Pose inverse = pose.Inverse();
  for (const Triangle& t : part) {
    for (const int32_t v : t) {
      if (!box.Contains(inverse.Apply(positions[v]))) return false;
    }
  }
  return true;
}

}  // namespace

void AddFilledRegions(const BodySpec& spec, int32_t body, const std::string& path, Model* model, Problems* problems,
                      Interrupt* interrupt) {
  if (spec.enclosed_volumes.empty()) return;
  if (!model->bodies[body].traits.reacts) {
    problems->Add(path + ".enclosed_volumes", "a ", KindsWith(&BodyTraits::reacts, false),
                  " body cannot change its volume; remove them");
    return;
  }
  const CollisionSurface& surface = model->surface;
  const std::vector<std::vector<Triangle>> parts = Parts(surface, model->bodies[body].triangles);
  for (size_t i = 0; i < spec.enclosed_volumes.size() && !Raised(interrupt); ++i) {
    const EnclosedVolumeSpec& volume = spec.enclosed_volumes[i];
    const std::string volume_path = absl::StrCat(path, ".enclosed_volumes[", i, "]");
    FilledRegion region = {body, {}, volume.filling};
    for (const std::vector<Triangle>& part : parts) {
      const bool inner = RegionVolume({body, part, {}}, surface.rest_positions) < 0;
      if (volume.cavities && !inner) continue;
      if (volume.box && !LiesIn(*volume.box, part, surface.rest_positions, spec.pose)) continue;
      for (Triangle t : part) {
        if (volume.cavities) std::swap(t[1], t[2]);
        region.triangles.push_back(t);
      }
    }
    region.filling.rest_volume_m3 = RegionVolume(region, surface.rest_positions);
    if (!CheckFilling(region.filling, volume_path, problems)) continue;
    if (region.triangles.empty()) {
      problems->Add(volume_path,
                    volume.cavities ? "the surface has no cavity (a closed part whose normals point inwards)"
                                    : "no closed part of the surface lies",
                    volume.box ? " in the box" : "");
    } else if (!IsClosed(region.triangles)) {
      problems->Add(volume_path, "this part of the surface is not closed; close its holes");
    } else if (!(region.filling.rest_volume_m3 > 0)) {
      problems->Add(volume_path, "encloses ", region.filling.rest_volume_m3,
                    " m^3; it must be > 0 (give CAVITIES for an inner surface)");
    } else {
      model->filled_regions.push_back(std::move(region));
    }
  }
}

}  // namespace eipc
