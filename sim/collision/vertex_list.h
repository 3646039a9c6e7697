#ifndef EIPC_SIM_COLLISION_VERTEX_LIST_H_
#define EIPC_SIM_COLLISION_VERTEX_LIST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace eipc {

// Vertices, each once, in the order in which they were added first.
class VertexList {
 public:
  // `vertices`: number of the surface's vertices.
  explicit VertexList(size_t vertices = 0) : has_(vertices, 0) {}

  void Reserve(size_t count) { list_.reserve(count); }
  void Clear() {
    for (const int32_t v : list_) has_[v] = 0;
    list_.clear();
  }
  void Add(int32_t v) {
    if (has_[v] != 0) return;
    has_[v] = 1;
    list_.push_back(v);
  }
  template <typename Vertices>
  void AddAll(const Vertices& vertices) {
    for (const int32_t v : vertices) Add(v);
  }
  bool Has(int32_t v) const { return has_[v] != 0; }
  const std::vector<int32_t>& list() const { return list_; }

 private:
  std::vector<int32_t> list_;
  std::vector<uint8_t> has_;  // by vertex
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_VERTEX_LIST_H_
