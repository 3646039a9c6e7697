#ifndef EIPC_CLIENT_CPP_CAMERA_H_
#define EIPC_CLIENT_CPP_CAMERA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/cpp/geometry.h"

namespace eipc::client {

// A pinhole camera of the server, on servers with the capability `cameras`; earlier ones leave Observation::cameras empty. Its
// frame has x to the right, y down and z forward; the ray of a pixel goes through its centre, and pixels are square.
struct Camera {
  std::string name;  // of its own
  Pose pose;         // of its frame in that of `body`, with which it moves then; in the world where `body` is empty
  std::string body = {};
  int width = 0;  // pixels
  int height = 0;
  double fov_y_rad = 0;  // between the upper and the lower edge
  // Depths that are seen; 0: from 1 mm, without end.
  double near_m = 0;
  double far_m = 0;
  // What is wanted of it; at least one.
  bool depth = true;
  bool segmentation = true;
  bool colour = false;
};

// What a camera saw, row by row from the top; empty where it was not asked for.
struct CameraPicture {
  static constexpr uint16_t kNoBody = 0xffff;
  Camera camera;                            // as it stood: in the world, fixed to no body
  std::vector<float> depth = {};            // m along the camera's z, infinite where nothing is
  std::vector<uint16_t> segmentation = {};  // index in CameraPictures::bodies, kNoBody where nothing is
  std::vector<uint8_t> colour = {};         // red, green, blue
  // Why there are no arrays: the call ended while the picture was drawn, or there was no room. Session::State draws it anew.
  std::string unfinished = {};
};

struct CameraPictures {
  std::vector<std::string> bodies = {};      // all of the scene
  std::vector<CameraPicture> pictures = {};  // in the order of Observe::cameras
};

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_CAMERA_H_
