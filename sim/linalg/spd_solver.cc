#include "sim/linalg/spd_solver.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "sim/base/quad.h"
#include "sim/base/refill.h"
#include "sim/base/wait_poll.h"
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
  const size_t entries = structure_.panel_entries + 8;
  ReserveMore(&panels_, entries);
  if (panels_.size() < entries) panels_.resize(entries);  // LoadColumns clears what is used
  for (Work& each : works_) each.values.resize(WorkEntries());
  if (pool_ != nullptr && pool_->threads() > 1) {
    plan_.SetStructure(structure_);
    progress_.SetStructure(plan_, static_cast<int32_t>(structure_.supernodes.size()));
  }
  Refill(&changed_, structure_.supernodes.size(), uint8_t{1});
  permuted_.resize(3 * structure_.nodes);
  valid_ = false;
}

int64_t SpdSolver::WorkEntries() const {
  int64_t entries = structure_.work_entries;
  for (const Supernode& s : structure_.supernodes) entries = std::max<int64_t>(entries, s.stride);
  return entries + 8;
}

// Whether threads are to share what has changed, and that each of them has its work then.
bool SpdSolver::WantsThreads(double flops) {
  if (flops < FactorPlan::kWorthThreads) return false;
  const bool asks = pool_->sharing() == ThreadPool::Sharing::kWhereItPays && flops < FactorPlan::kSurelyWorthThreads;
  if (pool_->Pauses() || (asks && !cost_.Pays(flops))) return false;
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

// Takes off what descendants contribute to the rows of nodes [begin, end) of the panel. Where threads share the factorization,
// waits for each of them; false when it was given up.
bool SpdSolver::ApplyUpdates(int s, int32_t begin, int32_t end, double* work) {
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
    // Of the rows it needs the first ones too, as columns, and what the kernel reads past the last one.
    const int32_t past = std::min(u.first + to + 1, source.row_count);
    if (shared_ && !progress_.AwaitRows(plan_, u.source, u.first, past, interrupt_)) return false;
    const double* a = panels_.data() + source.panel + 3 * u.first;
    // A few columns at a time, since of each only the rows from its own on are wanted. What the kernel writes past the end of a
    // column is a row of the next one that is not, or is computed after it.
    constexpr int32_t kStrip = 4;
    for (int32_t j = 0; j < count; j += kStrip) {
      const int32_t skipped = std::max(j - from, 0);
      MultiplyTransposed(rows - 3LL * skipped, 3LL * std::min(kStrip, count - j), 3 * source.columns(), a + 3LL * (from + skipped),
                         source.stride, a + 3LL * j, source.stride, work + 3 * j * stride + 3LL * skipped, stride);
    }
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
  return true;
}

Panel SpdSolver::PanelOf(int s) {
  const Supernode& node = structure_.supernodes[s];
  return {panels_.data() + node.panel, 3LL * node.row_count, 3LL * node.columns(), node.stride};
}

bool SpdSolver::Compute(const BlockMatrix& h, const std::vector<uint8_t>& fixed, int s, double* work) {
  LoadColumns(h, fixed, s);
  if (!ApplyUpdates(s, 0, structure_.supernodes[s].row_count, work)) return false;
  const Panel panel = PanelOf(s);
  return FactorRows(panel, 0, panel.rows, interrupt_);
}

bool SpdSolver::ComputePiece(const FactorPlan::Task& task, double* work) {
  using Kind = FactorPlan::Task::Kind;
  const int32_t s = task.supernode;
  if (task.kind == Kind::kSquare) {
    if (!progress_.AwaitSquareUpdates(s, interrupt_)) return false;
  } else if (!progress_.AwaitLoaded(s, interrupt_) || !ApplyUpdates(s, task.begin, task.end, work)) {
    return false;
  }
  if (task.kind == Kind::kRows && !progress_.AwaitSquare(s, interrupt_)) return false;
  if (task.kind != Kind::kUpdate && !FactorRows(PanelOf(s), 3LL * task.begin, 3LL * task.end, interrupt_)) return false;
  if (task.kind == Kind::kUpdate) progress_.SquareUpdated(s, task.piece);
  if (task.kind == Kind::kSquare) progress_.SquareReady(s);
  if (task.kind == Kind::kRows) progress_.RowsReady(s, task.piece);
  return true;
}

bool SpdSolver::Run(const FactorPlan::Task& task, const BlockMatrix& h, const std::vector<uint8_t>& fixed, double* work) {
  using Kind = FactorPlan::Task::Kind;
  switch (task.kind) {
    case Kind::kLoad:
      LoadColumns(h, fixed, task.supernode);
      progress_.Loaded(task.supernode);
      return true;
    case Kind::kUpdate:
    case Kind::kSquare:
    case Kind::kRows:
      return ComputePiece(task, work);
    case Kind::kSubtree:
    case Kind::kWhole:
      break;
  }
  for (int32_t s = task.first; s <= task.supernode; ++s) {
    if (!changed_[s]) continue;
    if (!Compute(h, fixed, s, work)) return false;
    progress_.AllReady(s);
  }
  return true;
}

bool SpdSolver::ComputeByThreads(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  plan_.Split(changed_, static_cast<int>(works_.size()));
  progress_.Begin(changed_);
  const WaitPoll wait_poll(interrupt_);
  // In order, whoever takes them: a task waits for earlier ones.
  pool_->Share(static_cast<int64_t>(plan_.tasks().size()), 1, [&](int64_t begin, int64_t end) {
    const WorkLease work(&works_);
    try {
      for (int64_t k = begin; k < end && !progress_.given_up(); ++k) {
        if (!Run(plan_.tasks()[k], h, fixed, work.values())) progress_.GiveUp();
      }
    } catch (...) {
      progress_.GiveUp();
      throw;
    }
  });
  return !progress_.given_up();
}

bool SpdSolver::ComputeAlone(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  for (size_t s = 0; s < structure_.supernodes.size(); ++s) {
    if (changed_[s] && !Compute(h, fixed, static_cast<int>(s), works_[0].values.data())) return false;
  }
  return true;
}

// Alone or by threads, whichever has taken less time.
bool SpdSolver::Compute(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  const double flops = pool_ == nullptr || pool_->threads() == 1 ? 0.0 : plan_.Flops(changed_);
  const auto start = std::chrono::steady_clock::now();
  shared_ = WantsThreads(flops);
  if (!(shared_ ? ComputeByThreads(h, fixed) : ComputeAlone(h, fixed))) return false;
  if (flops < FactorPlan::kWorthThreads || flops >= FactorPlan::kSurelyWorthThreads) return true;
  const double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  if (shared_) {
    cost_.RanShared(flops, ns);
  } else {
    cost_.RanAlone(flops, ns);
  }
  return true;
}

// For the next MarkChanged: only what has changed is not there already.
void SpdSolver::KeepValues(const BlockMatrix& h) {
  const bool all = computed_ == static_cast<int>(structure_.supernodes.size());
  if (all || last_values_.size() != h.values().size()) {
    ReserveMore(&last_values_, h.values().size());
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
  if (!Compute(h, fixed)) return false;
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
