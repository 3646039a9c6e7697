#include "models/finray.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "models/cells.h"

namespace eipc {
namespace {

constexpr double kLength = 0.1;
constexpr double kWidth = 0.02;
constexpr double kStrip = 0.003;  // thickness
constexpr double kRib = 0.002;    // thickness
constexpr double kBase = 0.008;   // height of the solid block that is held
constexpr double kTip = 0.004;    // of the solid tip
constexpr double kLean = 0.012;   // of the front strip: how far its base is behind its tip
constexpr double kBackAtBase = 0.05;
constexpr double kBackAtTip = 0.009;
constexpr int kOpenings = 5;

// Layers of cells along the finger, from its base.
struct Layers {
  std::vector<double> z = {0};
  std::vector<bool> solid;  // by layer: strips and all between them; else the strips alone
  void Add(double height, int cells, bool is_solid) {
    const double start = z.back();
    for (int i = 1; i <= cells; ++i) {
      z.push_back(start - height * i / cells);
      solid.push_back(is_solid);
    }
  }
};

Layers MakeLayers(const FinRayCells& cells) {
  Layers layers;
  const double opening = (kLength - kBase - kTip - (kOpenings - 1) * kRib) / kOpenings;
  layers.Add(kBase, cells.base, true);
  for (int i = 0; i < kOpenings; ++i) {
    layers.Add(opening, cells.opening, false);
    if (i + 1 < kOpenings) layers.Add(kRib, cells.rib, true);
  }
  layers.Add(kTip, cells.rib, true);
  return layers;
}

// Appends points from `from` to `to` in equal steps, without the first.
void AddSteps(double from, double to, int steps, std::vector<double>* points) {
  for (int i = 1; i <= steps; ++i) points->push_back(from + (to - from) * i / steps);
}

// Where the lines along the finger cross a height, from the back to the front.
std::vector<double> LinesAt(double z, const FinRayCells& cells) {
  const double s = -z / kLength;
  const double front = -kLean * (1 - s), back = -(kBackAtBase + (kBackAtTip - kBackAtBase) * s);
  const double front_slope = kLean / kLength, back_slope = (kBackAtBase - kBackAtTip) / kLength;
  const double front_inner = front - kStrip * std::sqrt(1 + front_slope * front_slope);
  const double back_inner = back + kStrip * std::sqrt(1 + back_slope * back_slope);
  std::vector<double> lines = {back};
  AddSteps(back, back_inner, cells.strip, &lines);
  AddSteps(back_inner, front_inner, cells.ribs, &lines);
  AddSteps(front_inner, front, cells.strip, &lines);
  return lines;
}

// Collects cells of a grid, numbering the grid points that they use.
class CellMesh {
 public:
  CellMesh(const Layers& layers, const FinRayCells& cells)
      : columns_(2 * cells.strip + cells.ribs + 1), rows_(cells.width + 1), layers_(layers.z), cells_(cells) {
    index_.assign(static_cast<size_t>(columns_) * rows_ * layers_.size(), -1);
  }

  void AddCellAt(int i, int j, int k) {
    std::array<int32_t, 8> corner;
    for (int b = 0; b < 8; ++b) corner[b] = VertexAt(i + (b & 1), j + (b >> 1 & 1), k + (b >> 2 & 1));
    AddCell(corner, (i + j + k) % 2 == 0, &mesh_);
  }

  MeshData Take() { return std::move(mesh_); }

 private:
  int32_t VertexAt(int i, int j, int k) {
    int32_t& index = index_[(static_cast<size_t>(k) * rows_ + j) * columns_ + i];
    if (index < 0) {
      index = static_cast<int32_t>(mesh_.vertices.size());
      mesh_.vertices.emplace_back(LinesAt(layers_[k], cells_)[i], kWidth * (static_cast<double>(j) / (rows_ - 1) - 0.5),
                                  layers_[k]);
    }
    return index;
  }

  const int columns_, rows_;
  const std::vector<double> layers_;  // z of each
  const FinRayCells cells_;
  std::vector<int32_t> index_;
  MeshData mesh_;
};

}  // namespace

MeshData FinRayFinger(const FinRayCells& cells) {
  const Layers layers = MakeLayers(cells);
  CellMesh mesh(layers, cells);
  const int columns = 2 * cells.strip + cells.ribs;
  for (size_t k = 0; k < layers.solid.size(); ++k) {
    for (int i = 0; i < columns; ++i) {
      if (!layers.solid[k] && i >= cells.strip && i < columns - cells.strip) continue;
      for (int j = 0; j < cells.width; ++j) mesh.AddCellAt(i, j, static_cast<int>(k));
    }
  }
  return mesh.Take();
}

}  // namespace eipc
