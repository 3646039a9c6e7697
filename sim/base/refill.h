#ifndef EIPC_SIM_BASE_REFILL_H_
#define EIPC_SIM_BASE_REFILL_H_

#include <cstddef>
#include <vector>

namespace eipc {

// Empties a vector that has no room for n and reserves half as much again: one whose size goes up and down would go to the heap,
// and for fresh pages, each time it is a little longer than ever before.
template <typename T>
void ReserveMore(std::vector<T>* v, size_t n) {
  if (n <= v->capacity()) return;
  v->clear();
  v->reserve(n + n / 2);
}

// As v->assign(n, value), which reserves exactly n when it must grow.
template <typename T>
void Refill(std::vector<T>* v, size_t n, const T& value) {
  ReserveMore(v, n);
  v->assign(n, value);
}

}  // namespace eipc

#endif  // EIPC_SIM_BASE_REFILL_H_
