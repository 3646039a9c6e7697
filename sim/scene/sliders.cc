#include "sim/scene/sliders.h"

#include <cmath>

#include "sim/dynamics/sliders.h"

namespace eipc {
namespace {

void CheckNumbers(const SliderSpec& spec, const std::string& path, Problems* problems) {
  const Slider& slider = spec.slider;
  struct Number {
    const char* name;
    double value;
    bool positive;
  };
  for (const Number& n :
       {Number{"max_force_n", slider.max_force_n, true}, Number{"stiffness_n_m", slider.stiffness_n_m, false},
        Number{"damping_n_s_m", slider.damping_n_s_m, false}, Number{"max_speed_m_s", slider.max_speed_m_s, false},
        Number{"guide_stiffness_n_m", slider.guide_stiffness_n_m, true}, Number{"mass_kg", spec.mass_kg, false}}) {
    const bool good = std::isfinite(n.value) && (n.positive ? n.value > 0 : n.value >= 0);
    if (!good) problems->Add(absl::StrCat(path, ".", n.name), "must be ", n.positive ? "> 0" : ">= 0", ", got ", n.value);
  }
  if (!slider.axis.allFinite() || slider.axis.isZero(0)) problems->Add(path + ".axis", "must be finite and not zero");
}

void CheckMotion(const Slider& slider, const std::string& path, Problems* problems) {
  for (size_t k = 0; k < slider.motion.keys.size(); ++k) {
    const auto& [time_s, value] = slider.motion.keys[k];
    const std::string key = absl::StrCat(path, ".keys[", k, "]");
    if (!std::isfinite(time_s)) {
      problems->Add(key + ".time_s", "must be finite");
    } else if (k > 0 && !(time_s > slider.motion.keys[k - 1].time_s)) {
      problems->Add(key + ".time_s", "must be later than the key before it (", slider.motion.keys[k - 1].time_s, "), got ", time_s);
    }
    const std::string problem = DriveProblem(slider, slider.motion.mode, value);
    if (!problem.empty()) problems->Add(key + ".value", problem);
  }
}

void CheckSlider(const SliderSpec& spec, const BodySpec& body, const std::string& path, Problems* problems) {
  CheckNumbers(spec, path, problems);
  CheckMotion(spec.slider, path + ".motion", problems);
  if (spec.mass_kg > 0 && !body.external_force.isZero(0)) {
    problems->Add(path + ".mass_kg",
                  "the body has an external_force_n, which is spread over its own mass; leave one of the two out");
  }
}

}  // namespace

void CheckSliders(const BodySpec& body, const std::string& path, Problems* problems) {
  for (size_t s = 0; s < body.boundary_sets.size(); ++s) {
    const std::optional<SliderSpec>& slider = body.boundary_sets[s].slider;
    if (slider) CheckSlider(*slider, body, absl::StrCat(path, ".boundary_sets[", s, "].slider"), problems);
  }
  if (!body.slider) return;
  const BodyTraits& traits = RowOf(body.kind).traits;
  if (traits.deforms) {
    problems->Add(path + ".slider", "a body that deforms does not slide as a whole; give the slider to one of its boundary_sets");
  } else if (!traits.reacts) {
    problems->Add(path + ".slider", "forces do not move a ", RowOf(body.kind).name, " body; make it an affine one");
  }
  CheckSlider(*body.slider, body, path + ".slider", problems);
}

void AddSlider(const SliderSpec& spec, const std::string& path, Model* model, std::vector<ScalarSparse::Entry>* mass,
               Problems* problems) {
  BoundarySet& set = model->boundary_sets.back();
  if (set.nodes.size() > kMostSliderNodes) {
    problems->Add(path, "holds ", set.nodes.size(), " vertices; at most ", kMostSliderNodes, " can slide together");
    return;
  }
  set.slides = true;
  Slider slider = spec.slider;
  slider.boundary_set = static_cast<int32_t>(model->boundary_sets.size()) - 1;
  slider.axis.stableNormalize();  // of any length that is not zero
  model->sliders.push_back(std::move(slider));
  if (spec.mass_kg == 0) return;
  const double each = spec.mass_kg / static_cast<double>(set.nodes.size());
  for (const int32_t node : set.nodes) mass->push_back({node, node, each});
}

}  // namespace eipc
