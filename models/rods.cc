#include "models/rods.h"

#include <array>

#include "models/cells.h"

namespace eipc {

MeshData Rod(const RodCells& cells) {
  MeshData mesh;
  const int points = cells.across + 1;  // over each side
  const auto at = [](int i, int count, double size) { return size * (static_cast<double>(i) / count - 0.5); };
  for (int i = 0; i <= cells.along; ++i) {
    for (int j = 0; j < points; ++j) {
      for (int k = 0; k < points; ++k) {
        mesh.vertices.emplace_back(at(i, cells.along, kRodLength), at(j, cells.across, kRodSide), at(k, cells.across, kRodSide));
      }
    }
  }
  for (int i = 0; i < cells.along; ++i) {
    for (int j = 0; j < cells.across; ++j) {
      for (int k = 0; k < cells.across; ++k) {
        std::array<int32_t, 8> corner;
        for (int b = 0; b < 8; ++b) corner[b] = ((i + (b & 1)) * points + j + (b >> 1 & 1)) * points + k + (b >> 2 & 1);
        AddCell(corner, (i + j + k) % 2 == 0, &mesh);
      }
    }
  }
  return mesh;
}

}  // namespace eipc
