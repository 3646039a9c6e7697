#include "sim/linalg/spd_solver.h"

#include <amd.h>
#include <cholmod.h>

#include <cstring>

extern "C" void openblas_set_num_threads(int);

namespace eipc {

struct SpdSolver::Impl {
  cholmod_common common;
  cholmod_factor* factor = nullptr;
  cholmod_sparse matrix = {};
  std::vector<int> column_start, rows, permutation;
  std::vector<double> values;
  // For every scalar entry, where it comes from in the block values; negative: none.
  cholmod_dense* x = nullptr;
  cholmod_dense* y = nullptr;
  cholmod_dense* e = nullptr;

  Impl() {
    openblas_set_num_threads(1);  // bits must not depend on the number of threads
    cholmod_start(&common);
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_GIVEN;
    common.postorder = 1;
    common.print = 0;
    common.quick_return_if_not_posdef = 1;
  }
  ~Impl() {
    if (factor != nullptr) cholmod_free_factor(&factor, &common);
    if (x != nullptr) cholmod_free_dense(&x, &common);
    if (y != nullptr) cholmod_free_dense(&y, &common);
    if (e != nullptr) cholmod_free_dense(&e, &common);
    cholmod_finish(&common);
  }
};

SpdSolver::SpdSolver() : impl_(std::make_unique<Impl>()) {}
SpdSolver::~SpdSolver() = default;

namespace {

// AMD on the block graph, expanded to scalars so that a node's three unknowns stay together (and form supernodes).
std::vector<int> NodeOrdering(const BlockMatrix& h) {
  const int n = h.nodes();
  std::vector<int> start(n + 1, 0), rows;
  rows.reserve(h.block_count());
  for (int c = 0; c < n; ++c) {
    for (int k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) rows.push_back(h.rows()[k]);
    start[c + 1] = static_cast<int>(rows.size());
  }
  std::vector<int> order(n);
  amd_order(n, start.data(), rows.data(), order.data(), nullptr, nullptr);
  std::vector<int> permutation(3 * n);
  for (int i = 0; i < n; ++i) {
    for (int d = 0; d < 3; ++d) permutation[3 * i + d] = 3 * order[i] + d;
  }
  return permutation;
}

}  // namespace

void SpdSolver::Analyze(const BlockMatrix& h) {
  Impl& s = *impl_;
  const int n = 3 * h.nodes();
  // Lower triangle by columns: below the diagonal each block contributes 3 rows, the diagonal block its lower part.
  s.column_start.assign(n + 1, 0);
  s.rows.clear();
  for (int c = 0; c < h.nodes(); ++c) {
    for (int d = 0; d < 3; ++d) {
      for (int k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
        const int r = h.rows()[k];
        for (int i = r == c ? d : 0; i < 3; ++i) s.rows.push_back(3 * r + i);
      }
      s.column_start[3 * c + d + 1] = static_cast<int>(s.rows.size());
    }
  }
  s.values.resize(s.rows.size());
  s.matrix = {};
  s.matrix.nrow = s.matrix.ncol = n;
  s.matrix.nzmax = s.rows.size();
  s.matrix.p = s.column_start.data();
  s.matrix.i = s.rows.data();
  s.matrix.x = s.values.data();
  s.matrix.stype = -1;
  s.matrix.itype = CHOLMOD_INT;
  s.matrix.xtype = CHOLMOD_REAL;
  s.matrix.dtype = CHOLMOD_DOUBLE;
  s.matrix.sorted = 1;
  s.matrix.packed = 1;
  s.permutation = NodeOrdering(h);
  if (s.factor != nullptr) cholmod_free_factor(&s.factor, &s.common);
  s.factor = cholmod_analyze_p(&s.matrix, s.permutation.data(), nullptr, 0, &s.common);
}

bool SpdSolver::Factorize(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  Impl& s = *impl_;
  double* out = s.values.data();
  for (int c = 0; c < h.nodes(); ++c) {
    const int begin = h.column_start()[c], end = h.column_start()[c + 1];
    for (int d = 0; d < 3; ++d) {
      for (int k = begin; k < end; ++k) {
        const int r = h.rows()[k];
        const double* block = h.values().data() + 9 * static_cast<int64_t>(k) + 3 * d;
        const int first = r == c ? d : 0;
        if (fixed[c] || fixed[r]) {
          for (int i = first; i < 3; ++i) *out++ = r == c && i == d ? 1.0 : 0.0;
        } else {
          for (int i = first; i < 3; ++i) *out++ = block[i];
        }
      }
    }
  }
  return cholmod_factorize(&s.matrix, s.factor, &s.common) && s.common.status == CHOLMOD_OK && s.factor->minor == s.factor->n;
}

void SpdSolver::Solve(VecX* rhs) {
  Impl& s = *impl_;
  cholmod_dense b = {};
  b.nrow = b.d = b.nzmax = rhs->size();
  b.ncol = 1;
  b.x = rhs->data();
  b.xtype = CHOLMOD_REAL;
  b.dtype = CHOLMOD_DOUBLE;
  cholmod_solve2(CHOLMOD_A, s.factor, &b, nullptr, &s.x, nullptr, &s.y, &s.e, &s.common);
  std::memcpy(rhs->data(), s.x->x, sizeof(double) * rhs->size());
}

}  // namespace eipc
