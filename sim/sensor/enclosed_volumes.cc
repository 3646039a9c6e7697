#include "sim/sensor/enclosed_volumes.h"

namespace eipc {

std::vector<VolumeReading> EnclosedVolumes(const Model& model, const std::vector<Vec3>& x) {
  std::vector<VolumeReading> readings;
  for (const FilledRegion& region : model.filled_regions) {
    const double volume = RegionVolume(region, x);
    readings.push_back({region.body, volume, region.filling.Overpressure(volume)});
  }
  return readings;
}

}  // namespace eipc
