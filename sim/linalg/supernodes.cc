#include "sim/linalg/supernodes.h"

#include <algorithm>
#include <functional>

#include "sim/base/refill.h"

namespace eipc {
namespace {

// Whether those that change are to come last. Fewer supernodes are computed again then, but the factor takes more operations. Small
// systems gain, since their time goes by supernodes, and large ones of which little changes: a solid of 1,000 nodes with 30 that do
// takes 0.03 of the time, and grasps of 300 to 700 nodes, of which a seventh to a third do, 1.03 to 1.13 times as long.
bool OrdersChangingLast(int nodes, int changing) {
  constexpr int kSmall = 256;
  return nodes <= kSmall || 10LL * changing <= nodes;
}

bool Coupled(const std::vector<uint8_t>& fixed, int32_t a, int32_t b) {
  return fixed.empty() || a == b || (!fixed[a] && !fixed[b]);
}

void Invert(const std::vector<int32_t>& order, std::vector<int32_t>* position) {
  position->resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) (*position)[order[i]] = static_cast<int32_t>(i);
}

// The explicit zeros that a panel of this many columns may have: what they cost in products grows with the width, what a wider
// panel saves does not.
double ZeroShare(int64_t columns) {
  if (columns <= 4) return 0.6;
  if (columns <= 8) return 0.25;
  return columns <= 16 ? 0.15 : 0.08;
}

}  // namespace

void PatternAnalysis::FindOrder(const BlockMatrix& h, const std::vector<uint8_t>& changing, const std::vector<uint8_t>& fixed,
                                Ints* order) {
  const int n = h.nodes();
  const auto for_edges = [&](const auto& visit) {
    for (int c = 0; c < n; ++c) {
      for (int k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
        const int r = h.rows()[k];
        if (r != c && Coupled(fixed, c, r)) visit(c, r);
      }
    }
  };
  start_.assign(n + 1, 0);
  for_edges([&](int c, int r) { ++start_[c + 1], ++start_[r + 1]; });
  for (int i = 0; i < n; ++i) start_[i + 1] += start_[i];
  neighbours_.resize(start_[n]);
  next_ = start_;
  for_edges([&](int c, int r) { neighbours_[next_[c]++] = r, neighbours_[next_[r]++] = c; });
  late_.assign(n, 0);
  if (OrdersChangingLast(n, static_cast<int>(std::count_if(changing.begin(), changing.end(), std::identity())))) {
    std::copy(changing.begin(), changing.end(), late_.begin());
  }
  minimum_fill_.Order(start_, neighbours_, late_, order);
}

// Strictly lower pattern of the permuted matrix.
void PatternAnalysis::PermuteLower(const BlockMatrix& h, const std::vector<uint8_t>& fixed, const Ints& position) {
  const int32_t n = h.nodes();
  const auto for_entries = [&](const auto& visit) {
    for (int32_t c = 0; c < n; ++c) {
      for (int32_t k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
        const int32_t a = position[c], b = position[h.rows()[k]];
        if (a != b && Coupled(fixed, c, h.rows()[k])) visit(std::min(a, b), std::max(a, b));
      }
    }
  };
  lower_.start.assign(n + 1, 0);
  for_entries([&](int32_t column, int32_t) { ++lower_.start[column + 1]; });
  for (int32_t j = 0; j < n; ++j) lower_.start[j + 1] += lower_.start[j];
  lower_.rows.resize(lower_.start[n]);
  next_ = lower_.start;
  for_entries([&](int32_t column, int32_t row) { lower_.rows[next_[column]++] = row; });
}

// Row structures of the factor's columns, in any order (Liu's symbolic factorization: a column hands its structure to its parent),
// and parents.
void PatternAnalysis::FindFactor(int32_t n) {
  parent_.assign(n, -1);
  child_.assign(n, -1);
  sibling_.assign(n, -1);
  mark_.assign(n, -1);
  factor_.start.assign(1, 0);
  Ints& rows = factor_.rows;
  rows.clear();
  for (int32_t j = 0; j < n; ++j) {
    const int32_t first = factor_.start[j];
    const auto take = [&](int32_t i) {
      if (i > j && mark_[i] != j) {
        mark_[i] = j;
        rows.push_back(i);
      }
    };
    for (int32_t i : lower_[j]) take(i);
    for (int32_t c = child_[j]; c >= 0; c = sibling_[c]) {
      for (int32_t k = factor_.start[c]; k < factor_.start[c + 1]; ++k) take(rows[k]);  // `rows` grows meanwhile
    }
    factor_.start.push_back(static_cast<int32_t>(rows.size()));
    if (static_cast<size_t>(first) == rows.size()) continue;
    parent_[j] = *std::min_element(rows.begin() + first, rows.end());
    sibling_[j] = child_[parent_[j]];
    child_[parent_[j]] = j;
  }
}

// Children before parents, and the columns of a subtree one after the other.
void PatternAnalysis::FindPostorder(int32_t n) {
  child_.assign(n, -1);
  for (int32_t j = n - 1; j >= 0; --j) {
    if (parent_[j] < 0) continue;
    sibling_[j] = child_[parent_[j]];
    child_[parent_[j]] = j;
  }
  postorder_.clear();
  stack_.clear();
  for (int32_t root = 0; root < n; ++root) {
    if (parent_[root] >= 0) continue;
    stack_.push_back(root);
    while (!stack_.empty()) {
      const int32_t j = stack_.back(), child = child_[j];
      if (child >= 0) {
        stack_.push_back(child);
        child_[j] = sibling_[child];
      } else {
        stack_.pop_back();
        postorder_.push_back(j);
      }
    }
  }
}

// A postorder makes columns of one supernode consecutive without changing the fill.
void PatternAnalysis::Relabel(int32_t n, Ints* order) {
  Invert(postorder_, &label_);
  old_order_ = *order;
  relabelled_.start.assign(1, 0);
  relabelled_.rows.clear();
  next_.resize(n);
  for (int32_t j = 0; j < n; ++j) {
    (*order)[j] = old_order_[postorder_[j]];
    for (int32_t i : factor_[postorder_[j]]) relabelled_.rows.push_back(label_[i]);
    relabelled_.start.push_back(static_cast<int32_t>(relabelled_.rows.size()));
    // The rows of a column are its ancestors, whose order stays as it is.
    next_[j] = parent_[postorder_[j]] < 0 ? -1 : label_[parent_[postorder_[j]]];
  }
  std::swap(parent_, next_);
}

// Groups of consecutive columns with (nearly) one structure: the rows below are those of the last column. A supernode absorbs the
// one right before it, its child in the tree, when few explicit zeros result (relaxed supernodes): larger panels are faster.
void PatternAnalysis::FindGroups(int32_t n) {
  constexpr int32_t kMaxColumns = 32;
  groups_.clear();
  for (int32_t j = 0; j < n; ++j) {
    groups_.push_back({j, j + 1, 0});
    const int64_t rows_below = static_cast<int64_t>(relabelled_[j].size());
    while (groups_.size() > 1) {
      Group& low = groups_[groups_.size() - 2];
      const Group& top = groups_.back();
      const int32_t next = parent_[low.end - 1];
      if (next >= top.end || next < top.begin) break;
      const int64_t width = low.end - low.begin, total = top.end - low.begin;
      if (total > kMaxColumns) break;
      // The merged rows below are the top's (low's structure beyond the top's columns is contained in it).
      const int64_t stored = width * (top.end - top.begin + rows_below);
      const int64_t zeros = low.zeros + top.zeros + stored - width * static_cast<int64_t>(relabelled_[low.end - 1].size());
      const int64_t size = total * (total + 1) / 2 + total * rows_below;
      if (static_cast<double>(zeros) > ZeroShare(total) * static_cast<double>(size)) break;
      low.end = top.end;
      low.zeros = zeros;
      groups_.pop_back();
    }
  }
}

void PatternAnalysis::SetSupernodes(SupernodalStructure* s) {
  s->supernodes.clear();
  s->row_list.clear();
  s->panel_entries = 0;
  s->supernode_of.resize(s->nodes);
  for (const Group& g : groups_) {
    const std::span<const int32_t> below = relabelled_[g.end - 1];
    SupernodalStructure::Supernode node{.begin = g.begin, .end = g.end};
    node.first_row = static_cast<int32_t>(s->row_list.size());
    node.row_count = g.end - g.begin + static_cast<int32_t>(below.size());
    for (int32_t c = g.begin; c < g.end; ++c) {
      s->row_list.push_back(c);
      s->supernode_of[c] = static_cast<int32_t>(s->supernodes.size());
    }
    s->row_list.insert(s->row_list.end(), below.begin(), below.end());
    std::sort(s->row_list.end() - static_cast<int64_t>(below.size()), s->row_list.end());
    node.stride = (3 * node.row_count + 3) / 4 * 4;
    node.panel = s->panel_entries;
    // Kernels read up to three rows past a panel's end, which must not be what another thread writes.
    constexpr int64_t kSpare = 4;
    s->panel_entries += static_cast<int64_t>(node.stride) * 3 * node.columns() + kSpare;
    s->supernodes.push_back(node);
  }
}

void PatternAnalysis::SetUpdates(SupernodalStructure* s) {
  const int32_t count = static_cast<int32_t>(s->supernodes.size());
  // Calls visit(source, first row, row after the last, target) for every run of a supernode's rows that lies in another's columns.
  const auto for_runs = [s, count](const auto& visit) {
    for (int32_t d = 0; d < count; ++d) {
      const std::span<const int32_t> rows = s->RowsOf(s->supernodes[d]);
      for (int32_t first = s->supernodes[d].columns(); first < static_cast<int32_t>(rows.size());) {
        const int32_t target = s->supernode_of[rows[first]];
        int32_t last = first;
        while (last < static_cast<int32_t>(rows.size()) && rows[last] < s->supernodes[target].end) ++last;
        visit(d, first, last, target);
        first = last;
      }
    }
  };
  Refill(&s->update_start, count + 2, 0);
  for_runs([s](int32_t, int32_t, int32_t, int32_t target) { ++s->update_start[target + 2]; });
  for (int32_t k = 0; k <= count; ++k) s->update_start[k + 1] += s->update_start[k];
  s->updates.resize(s->update_start.back());
  s->relative.clear();
  s->work_entries = 0;
  for_runs([s](int32_t d, int32_t first, int32_t last, int32_t target) {
    SupernodalStructure::Supernode& source = s->supernodes[d];
    const std::span<const int32_t> rows = s->RowsOf(source), target_rows = s->RowsOf(s->supernodes[target]);
    if (first == source.columns()) source.parent = target;
    SupernodalStructure::Update& update = s->updates[s->update_start[target + 1]++];
    update = {d, first, last, static_cast<int32_t>(s->relative.size()), source.row_count - first};
    size_t at = 0;
    for (int32_t i = first; i < source.row_count; ++i) {
      while (target_rows[at] < rows[i]) ++at;
      s->relative.push_back(static_cast<int32_t>(at));
    }
    s->work_entries = std::max<int64_t>(s->work_entries, (3LL * (source.row_count - first) + 8) * 3LL * (last - first));
  });
}

void PatternAnalysis::SetTargets(const BlockMatrix& h, const std::vector<uint8_t>& fixed, SupernodalStructure* s) {
  const auto supernode_at = [s](int32_t c, int32_t r) { return s->supernode_of[std::min(s->position[c], s->position[r])]; };
  s->block_at.resize(h.block_count());
  Refill(&s->block_start, s->supernodes.size() + 2, 0);
  for (int32_t c = 0; c < h.nodes(); ++c) {
    for (int32_t k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
      s->block_at[k] = {c, h.rows()[k]};
      if (Coupled(fixed, c, h.rows()[k])) ++s->block_start[supernode_at(c, h.rows()[k]) + 2];
    }
  }
  for (size_t i = 1; i < s->block_start.size(); ++i) s->block_start[i] += s->block_start[i - 1];
  s->blocks.resize(s->block_start.back());
  for (size_t k = 0; k < s->block_at.size(); ++k) {
    const auto [c, r] = s->block_at[k];
    if (Coupled(fixed, c, r)) s->blocks[s->block_start[supernode_at(c, r) + 1]++] = static_cast<int32_t>(k);
  }
  Refill(&s->targets, h.block_count(), SupernodalStructure::Target{});
  mark_.resize(s->nodes);
  for (int32_t supernode = 0; supernode < static_cast<int32_t>(s->supernodes.size()); ++supernode) {
    const SupernodalStructure::Supernode& node = s->supernodes[supernode];
    const std::span<const int32_t> rows = s->RowsOf(node);
    for (size_t at = 0; at < rows.size(); ++at) mark_[rows[at]] = static_cast<int32_t>(at);
    for (const int32_t k : s->BlocksOf(supernode)) {
      // Stored is the block (row r, column c); in the factor the larger position is the row.
      const auto [c, r] = s->block_at[k];
      const int32_t a = s->position[c], b = s->position[r], column = std::min(a, b) - node.begin;
      s->targets[k] = {node.panel + 3LL * column * node.stride + 3LL * mark_[std::max(a, b)], node.stride, supernode, b < a};
    }
  }
}

void PatternAnalysis::Analyze(const BlockMatrix& h, const std::vector<uint8_t>& changing, const std::vector<uint8_t>& fixed,
                              SupernodalStructure* out) {
  const int32_t n = out->nodes = h.nodes();
  if (n == 0) {
    *out = {};
    return;
  }
  FindOrder(h, changing, fixed, &out->order);
  Invert(out->order, &out->position);
  PermuteLower(h, fixed, out->position);
  FindFactor(n);
  FindPostorder(n);
  Relabel(n, &out->order);
  Invert(out->order, &out->position);
  FindGroups(n);
  SetSupernodes(out);
  SetUpdates(out);
  SetTargets(h, fixed, out);
}

}  // namespace eipc
