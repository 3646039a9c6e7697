#include "sim/linalg/spd_solver.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "sim/base/quad.h"
#include "sim/linalg/dense_kernel.h"
#include "sim/linalg/panel_factor.h"

namespace eipc {

using Supernode = SupernodalStructure::Supernode;

namespace {

// Inline, unlike std::copy_n, whose pieces may overlap.
void CopyThree(const double* from, double* to) { std::memcpy(to, from, 3 * sizeof(double)); }

// y[i] -= c0[i] b0 + c1[i] b1 + c2[i] b2.
void SubtractThree(const double* c, int64_t stride, int64_t begin, int64_t end, const double* b, double* y) {
  const double *c0 = c, *c1 = c + stride, *c2 = c + 2 * stride;
  const Quad b0 = Splat(b[0]), b1 = Splat(b[1]), b2 = Splat(b[2]);
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    StoreQuad(LoadQuad(y + i) - b0 * LoadQuad(c0 + i) - b1 * LoadQuad(c1 + i) - b2 * LoadQuad(c2 + i), y + i);
  }
  for (; i < end; ++i) y[i] = y[i] - b[0] * c0[i] - b[1] * c1[i] - b[2] * c2[i];
}

// Products of three columns with y.
std::array<double, 3> DotThree(const double* c, int64_t stride, int64_t begin, int64_t end, const double* y) {
  const double *c0 = c, *c1 = c + stride, *c2 = c + 2 * stride;
  Quad s[3] = {};
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    const Quad at = LoadQuad(y + i);
    s[0] += at * LoadQuad(c0 + i), s[1] += at * LoadQuad(c1 + i), s[2] += at * LoadQuad(c2 + i);
  }
  std::array<double, 3> out;
  for (int k = 0; k < 3; ++k) out[k] = (s[k][0] + s[k][1]) + (s[k][2] + s[k][3]);
  for (; i < end; ++i) out[0] += y[i] * c0[i], out[1] += y[i] * c1[i], out[2] += y[i] * c2[i];
  return out;
}

// About what a thread does in a nanosecond: how long a loop lasts decides whether it is worth waking a thread for.
constexpr double kFlopsPerNs = 15;
// The panel's rows are shared in pieces whose products fit the second cache: by nodes while updates are taken off, by scalar rows,
// a multiple of 4, for the factor.
constexpr int32_t kNodesOfAPiece = 16;
constexpr int64_t kRowsOfAPiece = 64;

}  // namespace

// Has one of the works for as long as it lives. There are as many as there can be threads, so one is free.
class SpdSolver::WorkLease {
 public:
  explicit WorkLease(std::vector<Work>* works) {
    size_t k = 0;
    while ((*works)[k].taken.test_and_set(std::memory_order_acquire)) k = (k + 1) % works->size();
    work_ = &(*works)[k];
  }
  ~WorkLease() { work_->taken.clear(std::memory_order_release); }
  WorkLease(const WorkLease&) = delete;
  WorkLease& operator=(const WorkLease&) = delete;

  double* values() const { return work_->values.data(); }

 private:
  Work* work_ = nullptr;
};

SpdSolver::SpdSolver(Interrupt* interrupt, ThreadPool* pool) : interrupt_(interrupt), pool_(pool), works_(1) {}

void SpdSolver::Analyze(const BlockMatrix& h, const std::vector<uint8_t>& changing, const std::vector<uint8_t>& fixed) {
  analysis_.Analyze(h, changing, fixed, &structure_);
  panels_.assign(structure_.panel_entries + 8, 0.0);
  for (Work& each : works_) each.values.resize(WorkEntries());
  if (pool_ != nullptr && pool_->threads() > 1) plan_.SetStructure(structure_);
  changed_.assign(structure_.supernodes.size(), 1);
  permuted_.resize(3 * structure_.nodes);
  valid_ = false;
}

int64_t SpdSolver::WorkEntries() const {
  int64_t entries = structure_.work_entries;
  for (const Supernode& s : structure_.supernodes) entries = std::max<int64_t>(entries, s.stride);
  return entries + 8;
}

// Whether threads are to share what has changed, and that each of them has its work then.
bool SpdSolver::WantsThreads() {
  if (pool_ == nullptr || pool_->threads() == 1 || plan_.Flops(changed_) < FactorPlan::kWorthThreads) return false;
  const size_t threads = static_cast<size_t>(pool_->MostAtOnce());
  if (works_.size() != threads) {
    works_ = std::vector<Work>(threads);
    for (Work& each : works_) each.values.resize(WorkEntries());
  }
  return threads > 1;
}

void SpdSolver::MarkChanged(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  if (!valid_ || fixed != last_fixed_ || h.values().size() != last_values_.size()) {
    std::fill(changed_.begin(), changed_.end(), 1);
    return;
  }
  std::fill(changed_.begin(), changed_.end(), 0);
  for (size_t s = 0; s < structure_.supernodes.size(); ++s) {
    for (const int32_t k : structure_.BlocksOf(static_cast<int32_t>(s))) {
      if (changed_[s]) break;
      // Bits, so that zeros of different sign differ. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
      changed_[s] = std::memcmp(h.values().data() + 9LL * k, last_values_.data() + 9LL * k, 9 * sizeof(double)) != 0;
    }
    // Whatever it updates changes with it: the supernodes of all its rows are ancestors, reached through the parents.
    const int32_t parent = structure_.supernodes[s].parent;
    if (changed_[s] && parent >= 0) changed_[parent] = 1;
  }
}

void SpdSolver::LoadColumns(const BlockMatrix& h, const std::vector<uint8_t>& fixed, int s) {
  const Supernode& node = structure_.supernodes[s];
  std::fill_n(panels_.data() + node.panel, static_cast<int64_t>(node.stride) * 3 * node.columns(), 0.0);
  for (const int32_t k : structure_.BlocksOf(s)) {
    const auto [c, r] = structure_.block_at[k];
    const SupernodalStructure::Target& t = structure_.targets[k];
    Eigen::Map<Mat3, 0, Eigen::OuterStride<>> out(panels_.data() + t.offset, Eigen::OuterStride<>(t.stride));
    if (fixed[c] || fixed[r]) {
      if (r == c) out.setIdentity();
      continue;
    }
    const Eigen::Map<const Mat3> block(h.values().data() + 9LL * k);
    if (t.transposed) {
      out = block.transpose();
    } else {
      out = block;
    }
  }
}

// Takes off what descendants contribute to the rows of nodes [begin, end) of the panel.
void SpdSolver::ApplyUpdates(int s, int32_t begin, int32_t end, double* work) {
  const Supernode& node = structure_.supernodes[s];
  double* panel = panels_.data() + node.panel;
  for (const SupernodalStructure::Update& u : structure_.UpdatesOf(s)) {
    const Supernode& source = structure_.supernodes[u.source];
    const std::span<const int32_t> relative = structure_.RelativeOf(u);
    const auto at = [&](int32_t row) {
      return static_cast<int32_t>(std::lower_bound(relative.begin(), relative.end(), row) - relative.begin());
    };
    const int32_t from = begin == 0 ? 0 : at(begin), to = end == node.row_count ? u.relative_count : at(end);
    if (from >= to) continue;
    const int32_t count = std::min(u.last - u.first, to);  // columns above these rows
    const int64_t rows = 3LL * (to - from), stride = (rows + 3) / 4 * 4;
    const double* a = panels_.data() + source.panel + 3 * u.first;
    MultiplyTransposed(rows, 3LL * count, 3 * source.columns(), a + 3LL * from, source.stride, a, source.stride, work, stride);
    for (int32_t j = 0; j < count; ++j) {
      double* target = panel + 3LL * relative[j] * node.stride;
      const double* product = work + 3 * j * stride;
      for (int32_t i = std::max(j, from); i < to; ++i) {
        double* out = target + 3 * relative[i];
        const double* in = product + 3LL * (i - from);
        for (int d = 0; d < 3; ++d) {
          out[d * node.stride] -= in[d * stride];
          out[d * node.stride + 1] -= in[d * stride + 1];
          out[d * node.stride + 2] -= in[d * stride + 2];
        }
      }
    }
  }
}

Panel SpdSolver::PanelOf(int s) {
  const Supernode& node = structure_.supernodes[s];
  return {panels_.data() + node.panel, 3LL * node.row_count, 3LL * node.columns(), node.stride};
}

bool SpdSolver::Compute(const BlockMatrix& h, const std::vector<uint8_t>& fixed, int s, double* work) {
  LoadColumns(h, fixed, s);
  ApplyUpdates(s, 0, structure_.supernodes[s].row_count, work);
  const Panel panel = PanelOf(s);
  return FactorRows(panel, 0, panel.rows, interrupt_);
}

// The same by several threads, piece by piece.
bool SpdSolver::ComputeShared(const BlockMatrix& h, const std::vector<uint8_t>& fixed, int s) {
  const double update_ns = plan_.UpdateFlopsOf(s) / kFlopsPerNs, panel_ns = plan_.FlopsOf(s) / kFlopsPerNs - update_ns;
  LoadColumns(h, fixed, s);
  const int32_t nodes = structure_.supernodes[s].row_count;
  pool_->ParallelForLasting(update_ns, (nodes + kNodesOfAPiece - 1) / kNodesOfAPiece, 1, [&](int64_t begin, int64_t end) {
    const WorkLease work(&works_);
    for (int64_t piece = begin; piece < end; ++piece) {
      const int32_t first = static_cast<int32_t>(piece) * kNodesOfAPiece;
      ApplyUpdates(s, first, std::min(nodes, first + kNodesOfAPiece), work.values());
    }
  });
  const Panel panel = PanelOf(s);
  if (!FactorRows(panel, 0, panel.top(), interrupt_)) return false;
  std::atomic<bool> whole = true;
  const int64_t below = panel.rows - panel.top();
  pool_->ParallelForLasting(panel_ns, (below + kRowsOfAPiece - 1) / kRowsOfAPiece, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t first = panel.top() + piece * kRowsOfAPiece;
      if (!FactorRows(panel, first, std::min(panel.rows, first + kRowsOfAPiece), interrupt_)) whole = false;
    }
  });
  return whole;
}

bool SpdSolver::ComputeSubtrees(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  std::atomic<bool> whole = true;
  const int64_t count = static_cast<int64_t>(plan_.subtrees().size());
  pool_->ParallelForLasting(plan_.subtree_flops() / kFlopsPerNs, count, 1, [&](int64_t begin, int64_t end) {
    const WorkLease work(&works_);
    for (int64_t k = begin; k < end; ++k) {
      const FactorPlan::Subtree& subtree = plan_.subtrees()[k];
      for (int32_t s = subtree.first; s <= subtree.last && whole; ++s) {
        if (changed_[s] && !Compute(h, fixed, s, work.values())) whole = false;
      }
    }
  });
  return whole;
}

bool SpdSolver::ComputeByThreads(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  plan_.Split(changed_, static_cast<int>(works_.size()));
  if (!ComputeSubtrees(h, fixed)) return false;
  for (const int32_t s : plan_.rest()) {
    const bool shared = plan_.FlopsOf(s) >= FactorPlan::kWorthPieces;
    if (!(shared ? ComputeShared(h, fixed, s) : Compute(h, fixed, s, works_[0].values.data()))) return false;
  }
  return true;
}

bool SpdSolver::ComputeAlone(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  for (size_t s = 0; s < structure_.supernodes.size(); ++s) {
    if (changed_[s] && !Compute(h, fixed, static_cast<int>(s), works_[0].values.data())) return false;
  }
  return true;
}

// For the next MarkChanged: only what has changed is not there already.
void SpdSolver::KeepValues(const BlockMatrix& h) {
  if (last_values_.size() != h.values().size()) {
    last_values_ = h.values();
    return;
  }
  for (size_t s = 0; s < structure_.supernodes.size(); ++s) {
    if (!changed_[s]) continue;
    for (const int32_t k : structure_.BlocksOf(static_cast<int32_t>(s))) {
      std::memcpy(last_values_.data() + 9LL * k, h.values().data() + 9LL * k, 9 * sizeof(double));
    }
  }
}

bool SpdSolver::Factorize(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  MarkChanged(h, fixed);
  valid_ = false;
  computed_ = static_cast<int>(std::count(changed_.begin(), changed_.end(), 1));
  shared_ = WantsThreads();
  if (!(shared_ ? ComputeByThreads(h, fixed) : ComputeAlone(h, fixed))) return false;
  KeepValues(h);
  last_fixed_ = fixed;
  valid_ = true;
  return true;
}

// Entries of x that a supernode's rows name, in one piece.
void SpdSolver::GatherRows(const Supernode& node) {
  const std::span<const int32_t> rows = structure_.RowsOf(node);
  for (size_t r = 0; r < rows.size(); ++r) CopyThree(permuted_.data() + 3 * rows[r], works_[0].values.data() + 3 * r);
}

// L y = b, three columns at a time.
void SpdSolver::SolveForward() {
  for (const Supernode& node : structure_.supernodes) {
    const int64_t rows = 3LL * node.row_count;
    GatherRows(node);
    double* y = works_[0].values.data();
    for (int64_t j = 0; j < 3 * node.columns(); j += 3) {
      const double* c = panels_.data() + node.panel + j * node.stride;
      y[j] /= c[j];
      y[j + 1] = (y[j + 1] - c[j + 1] * y[j]) / c[node.stride + j + 1];
      y[j + 2] = (y[j + 2] - c[j + 2] * y[j] - c[node.stride + j + 2] * y[j + 1]) / c[2 * node.stride + j + 2];
      SubtractThree(c, node.stride, j + 3, rows, y + j, y);
    }
    const std::span<const int32_t> row_list = structure_.RowsOf(node);
    for (size_t r = 0; r < row_list.size(); ++r) CopyThree(y + 3 * r, permuted_.data() + 3 * row_list[r]);
  }
}

// L^T x = y, three columns at a time.
void SpdSolver::SolveBackward() {
  for (size_t s = structure_.supernodes.size(); s-- > 0;) {
    const Supernode& node = structure_.supernodes[s];
    const int64_t rows = 3LL * node.row_count;
    GatherRows(node);
    double* x = works_[0].values.data();
    for (int64_t j = 3 * node.columns() - 3; j >= 0; j -= 3) {
      const double* c = panels_.data() + node.panel + j * node.stride;
      const std::array<double, 3> sum = DotThree(c, node.stride, j + 3, rows, x);
      x[j + 2] = (x[j + 2] - sum[2]) / c[2 * node.stride + j + 2];
      x[j + 1] = (x[j + 1] - sum[1] - c[node.stride + j + 2] * x[j + 2]) / c[node.stride + j + 1];
      x[j] = (x[j] - sum[0] - c[j + 1] * x[j + 1] - c[j + 2] * x[j + 2]) / c[j];
    }
    std::copy_n(x, 3 * node.columns(), permuted_.data() + 3 * node.begin);
  }
}

void SpdSolver::Solve(VecX* rhs) {
  for (int32_t i = 0; i < structure_.nodes; ++i) permuted_.segment<3>(3 * i) = rhs->segment<3>(3 * structure_.order[i]);
  SolveForward();
  SolveBackward();
  for (int32_t i = 0; i < structure_.nodes; ++i) rhs->segment<3>(3 * structure_.order[i]) = permuted_.segment<3>(3 * i);
}

}  // namespace eipc
