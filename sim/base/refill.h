#ifndef EIPC_SIM_BASE_REFILL_H_
#define EIPC_SIM_BASE_REFILL_H_

#include <cstddef>
#include <vector>

namespace eipc {

// As v->assign(n, value), which reserves exactly n when it must grow: a vector whose size goes up and down would go to the heap,
// and for fresh pages, each time it is a little longer than ever before. This reserves half as much again.
template <typename T>
void Refill(std::vector<T>* v, size_t n, const T& value) {
  if (n > v->capacity()) {
    v->clear();
    v->reserve(n + n / 2);
  }
  v->assign(n, value);
}

}  // namespace eipc

#endif  // EIPC_SIM_BASE_REFILL_H_
