#include "sim/meshing/condensed_store.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/base/byte_archive.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

std::atomic<CondensedStore*> process_store = nullptr;

template <typename Archive, typename Condensed>
void Visit(Archive& archive, Condensed& condensed) {
  const auto vector = [&archive](auto& v) {
    for (int i = 0; i < 3; ++i) archive.Value(v[i]);
  };
  archive.Each(condensed.rest, vector);
  archive.Each(condensed.clusters, [&](auto& cluster) {
    const auto number = [&archive](auto& value) { archive.Value(value); };
    archive.Each(cluster.stiffness, number);
    archive.Each(cluster.strain, number);
    archive.Each(cluster.gradient, vector);
    archive.Each(cluster.volume, number);
  });
  archive.Value(condensed.bulk_modulus_pa);
  archive.Value(condensed.shear_modulus_pa);
}

bool AllFinite(const std::vector<Vec3>& vectors) {
  return std::all_of(vectors.begin(), vectors.end(), [](const Vec3& v) { return v.allFinite(); });
}

bool AllFinite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// Entries of M (j * n + l, i * stride + k) and those across the diagonal are the same to the last bit.
bool IsSymmetric(const std::vector<double>& stiffness, size_t n, size_t stride) {
  const auto at = [&](size_t k, size_t i, size_t l, size_t j) { return stiffness[(j * n + l) * 3 * stride + i * stride + k]; };
  for (size_t l = 0; l < n; ++l) {
    for (size_t k = l; k < n; ++k) {
      for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j) {
          if (at(k, i, l, j) != at(l, j, k, i)) return false;
        }
      }
    }
  }
  return true;
}

bool IsPositive(double value) { return value > 0 && std::isfinite(value); }

bool IsSound(const CondensedStiffness& condensed, size_t vertices) {
  if (condensed.vertices() != vertices || !AllFinite(condensed.rest) || condensed.clusters.empty()) return false;
  for (const CondensedStiffness::Cluster& cluster : condensed.clusters) {
    if (cluster.stiffness.size() != 9 * condensed.stride() * vertices || cluster.volume.empty() ||
        cluster.strain.size() != 18 * condensed.stride() * cluster.volume.size() || cluster.gradient.size() != vertices) {
      return false;
    }
    if (!AllFinite(cluster.stiffness) || !AllFinite(cluster.strain) || !AllFinite(cluster.gradient)) return false;
    if (!std::all_of(cluster.volume.begin(), cluster.volume.end(), IsPositive) ||
        !IsSymmetric(cluster.stiffness, vertices, condensed.stride()))
      return false;
  }
  return IsPositive(condensed.bulk_modulus_pa) && IsPositive(condensed.shear_modulus_pa);
}

template <typename Cells>
void AddMesh(const std::vector<Vec3>& vertices, const Cells& cells, ByteWriter* key) {
  key->Each(vertices, [key](const Vec3& p) {
    for (int i = 0; i < 3; ++i) key->Value(p[i]);
  });
  key->Each(cells, [key](const auto& cell) {
    for (const int32_t v : cell) key->Value(v);
  });
}

// Everything that the stiffness depends on.
std::string KeyOf(const TetMesh& cage, const SurfaceMesh& surface, const TetMesh* own, const ElasticModuli& moduli) {
  ByteWriter key;
  AddMesh(cage.vertices(), cage.tets(), &key);
  AddMesh(surface.vertices(), surface.triangles(), &key);
  key.Value(own != nullptr);
  if (own != nullptr) AddMesh(own->vertices(), own->tets(), &key);
  key.Value(moduli.youngs_modulus_pa);
  key.Value(moduli.poissons_ratio);
  return key.Take();
}

}  // namespace

void SetCondensedStore(CondensedStore* store) { process_store = store; }

std::string ToBytes(const CondensedStiffness& condensed) {
  ByteWriter writer;
  Visit(writer, condensed);
  return writer.Take();
}

std::optional<CondensedStiffness> FromBytes(absl::string_view bytes, size_t vertices) {
  CondensedStiffness condensed;
  ByteReader reader(bytes);
  Visit(reader, condensed);
  if (!reader.done() || !IsSound(condensed, vertices)) return std::nullopt;
  return condensed;
}

absl::StatusOr<CondensedStiffness> CondenseOnce(const TetMesh& cage, const SurfaceMesh& surface, const TetMesh* own,
                                                const ElasticModuli& moduli, Interrupt* interrupt) {
  CondensedStore* store = process_store;
  if (store == nullptr) return Condense(cage, surface, own, moduli, interrupt);
  const std::string key = KeyOf(cage, surface, own, moduli);
  if (const std::optional<std::string> bytes = store->Find(key)) {
    if (std::optional<CondensedStiffness> kept = FromBytes(*bytes, cage.vertices().size())) return *std::move(kept);
  }
  EIPC_ASSIGN_OR_RETURN(CondensedStiffness made, Condense(cage, surface, own, moduli, interrupt));
  store->Keep(key, ToBytes(made));
  return made;
}

}  // namespace eipc
