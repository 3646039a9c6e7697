#include "sim/meshing/condensed_store.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "sim/base/byte_archive.h"

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
    archive.Each(cluster.stiffness, [&](auto& value) { archive.Value(value); });
    archive.Each(cluster.gradient, vector);
  });
  archive.Value(condensed.bulk_modulus_pa);
}

bool AllFinite(const std::vector<Vec3>& vectors) {
  return std::all_of(vectors.begin(), vectors.end(), [](const Vec3& v) { return v.allFinite(); });
}

bool IsSound(const CondensedStiffness& condensed, size_t vertices) {
  if (condensed.vertices() != vertices || !AllFinite(condensed.rest) || condensed.clusters.empty()) return false;
  for (const CondensedStiffness::Cluster& cluster : condensed.clusters) {
    if (cluster.stiffness.size() != 9 * condensed.stride() * vertices || cluster.gradient.size() != vertices) return false;
    if (!AllFinite(cluster.gradient)) return false;
    if (!std::all_of(cluster.stiffness.begin(), cluster.stiffness.end(), [](double k) { return std::isfinite(k); })) return false;
  }
  return condensed.bulk_modulus_pa > 0 && std::isfinite(condensed.bulk_modulus_pa);
}

}  // namespace

void SetCondensedStore(CondensedStore* store) { process_store = store; }

CondensedStore* GetCondensedStore() { return process_store; }

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

}  // namespace eipc
