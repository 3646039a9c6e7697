#ifndef EIPC_SIM_SCENE_SLIDERS_H_
#define EIPC_SIM_SCENE_SLIDERS_H_

#include <string>
#include <vector>

#include "sim/linalg/scalar_sparse.h"
#include "sim/scene/problems.h"
#include "sim/scene/scene_spec.h"

namespace eipc {

// The matrix couples every node of a slider with every other.
inline constexpr int kMostSliderNodes = 512;

// Adds what is wrong with the sliders of a body.
void CheckSliders(const BodySpec& body, const std::string& path, Problems* problems);

// Makes the last boundary set of the model a slider, and adds the mass that moves along to its nodes, in equal parts.
void AddSlider(const SliderSpec& spec, const std::string& path, Model* model, std::vector<ScalarSparse::Entry>* mass,
               Problems* problems);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_SLIDERS_H_
