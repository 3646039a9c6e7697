#ifndef EIPC_SIM_SENSOR_ENCLOSED_VOLUMES_H_
#define EIPC_SIM_SENSOR_ENCLOSED_VOLUMES_H_

#include <vector>

#include "sim/dynamics/model.h"

namespace eipc {

// What fills a closed surface, in the order of Model::filled_regions.
struct VolumeReading {
  int32_t body = 0;
  double volume_m3 = 0;
  double overpressure_pa = 0;  // over what is outside
};
std::vector<VolumeReading> EnclosedVolumes(const Model& model, const std::vector<Vec3>& x);

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_ENCLOSED_VOLUMES_H_
