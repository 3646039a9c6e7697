#include "sim/linalg/supernodes.h"

#include <camd.h>

#include <algorithm>
#include <numeric>

namespace eipc {
namespace {

// Strictly lower pattern of the permuted matrix by columns.
using Ints = SupernodalStructure::Ints;
using Columns = std::pmr::vector<Ints>;

bool Coupled(const std::vector<uint8_t>& fixed, int32_t a, int32_t b) {
  return fixed.empty() || a == b || (!fixed[a] && !fixed[b]);
}

// CAMD's own core, given workspace: its front door takes memory from the heap at every call. It wants each row's neighbours, and
// destroys them.
void MinimumDegree(const BlockMatrix& h, const std::vector<uint8_t>& changing, const std::vector<uint8_t>& fixed, Ints* order) {
  const int n = h.nodes();
  const auto memory = order->get_allocator();
  const auto for_edges = [&](const auto& visit) {
    for (int c = 0; c < n; ++c) {
      for (int k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
        const int r = h.rows()[k];
        if (r != c && Coupled(fixed, c, r)) visit(c, r);
      }
    }
  };
  Ints length(n, 0, memory), start(n, 0, memory), constraint(n, 0, memory);
  for_edges([&](int c, int r) { ++length[c], ++length[r]; });
  int entries = 0;
  for (int i = 0; i < n; ++i) start[i] = entries, entries += length[i];
  Ints neighbours(entries + entries / 5 + n + 1, 0, memory), next(start, memory);
  for_edges([&](int c, int r) { neighbours[next[c]++] = r, neighbours[next[r]++] = c; });
  // Constraint sets are to be used from 0 up; with none or all changing there is one.
  for (int i = 0; i < n && !changing.empty(); ++i) constraint[i] = changing[i] != 0;
  const bool mixed = std::find(constraint.begin(), constraint.end(), 0) != constraint.end();
  if (!mixed) std::fill(constraint.begin(), constraint.end(), 0);
  Ints weight(n, 0, memory), head(n + 1, 0, memory), element(n, 0, memory), degree(n, 0, memory), mark(n + 1, 0, memory),
      bucket(n, 0, memory);
  double control[CAMD_CONTROL], info[CAMD_INFO];
  camd_defaults(control);
  order->resize(n);
  camd_2(n, start.data(), neighbours.data(), length.data(), static_cast<int>(neighbours.size()), entries, weight.data(),
         next.data(), order->data(), head.data(), element.data(), degree.data(), mark.data(), control, info, constraint.data(),
         bucket.data());
}

Columns PermutedLower(const BlockMatrix& h, const Ints& position, const std::vector<uint8_t>& fixed) {
  Columns columns(h.nodes(), position.get_allocator());
  for (int32_t c = 0; c < h.nodes(); ++c) {
    for (int32_t k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
      const int32_t a = position[c], b = position[h.rows()[k]];
      if (a != b && Coupled(fixed, c, h.rows()[k])) columns[std::min(a, b)].push_back(std::max(a, b));
    }
  }
  return columns;
}

// Row structures of the factor's columns (Liu's symbolic factorization: a column hands its structure to its parent) and parents.
void FactorStructure(Columns* columns, Ints* parent) {
  const int32_t n = static_cast<int32_t>(columns->size());
  parent->assign(n, -1);
  const auto memory = parent->get_allocator();
  Columns children(n, memory);
  Ints mark(n, -1, memory), merged(memory);
  for (int32_t j = 0; j < n; ++j) {
    Ints& rows = (*columns)[j];
    mark[j] = j;
    merged.clear();
    const auto take = [&](int32_t i) {
      if (i > j && mark[i] != j) {
        mark[i] = j;
        merged.push_back(i);
      }
    };
    for (int32_t i : rows) take(i);
    for (int32_t child : children[j]) {
      for (int32_t i : (*columns)[child]) take(i);
    }
    std::sort(merged.begin(), merged.end());
    rows = merged;
    if (!rows.empty()) {
      (*parent)[j] = rows[0];
      children[rows[0]].push_back(j);
    }
  }
}

Ints Postorder(const Ints& parent) {
  const int32_t n = static_cast<int32_t>(parent.size());
  const auto memory = parent.get_allocator();
  Columns children(n, memory);
  Ints order(memory), stack(memory);
  for (int32_t j = n - 1; j >= 0; --j) {
    if (parent[j] >= 0) children[parent[j]].push_back(j);
  }
  for (int32_t root = 0; root < n; ++root) {
    if (parent[root] >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const int32_t j = stack.back();
      if (!children[j].empty()) {
        stack.push_back(children[j].back());
        children[j].pop_back();
      } else {
        stack.pop_back();
        order.push_back(j);
      }
    }
  }
  return order;
}

// Groups of consecutive columns with (nearly) one structure. A supernode swallows the one right before it, its child in the tree,
// when the zeros this stores stay few: bigger panels are worth some zeros.
void FindSupernodes(const Columns& columns, SupernodalStructure* s) {
  constexpr int32_t kMaxColumns = 48;
  constexpr double kZeroShare = 0.25;
  struct Group {
    int32_t begin, end;
    Ints below;     // rows below the group's columns
    int64_t zeros;  // blocks stored without need
  };
  std::pmr::vector<Group> groups(s->memory);
  for (int32_t j = 0; j < s->nodes; ++j) {
    groups.push_back({j, j + 1, Ints(columns[j], s->memory), 0});
    while (groups.size() > 1) {
      Group& low = groups[groups.size() - 2];
      Group& top = groups.back();
      if (low.below.empty() || low.below[0] >= top.end || low.below[0] < top.begin) break;
      const int64_t width = low.end - low.begin, total = top.end - low.begin;
      if (total > kMaxColumns) break;
      // The merged rows below are the top's (low's structure beyond the top's columns is contained in it).
      const int64_t stored = width * (top.end - top.begin + static_cast<int64_t>(top.below.size()));
      const int64_t zeros = low.zeros + top.zeros + stored - width * static_cast<int64_t>(low.below.size());
      const int64_t size = total * (total + 1) / 2 + total * static_cast<int64_t>(top.below.size());
      const bool small = total <= 4;
      if (zeros > (small ? 0.6 : kZeroShare) * static_cast<double>(size)) break;
      low.end = top.end;
      low.below = std::move(top.below);
      low.zeros = zeros;
      groups.pop_back();
    }
  }
  for (Group& g : groups) {
    SupernodalStructure::Supernode node{.begin = g.begin, .end = g.end, .rows = Ints(s->memory)};
    for (int32_t c = g.begin; c < g.end; ++c) node.rows.push_back(c);
    node.rows.insert(node.rows.end(), g.below.begin(), g.below.end());
    node.stride = (3 * static_cast<int32_t>(node.rows.size()) + 3) / 4 * 4;
    node.panel = s->panel_entries;
    s->panel_entries += static_cast<int64_t>(node.stride) * 3 * node.columns();
    s->supernodes.push_back(std::move(node));
  }
  s->supernode_of.resize(s->nodes);
  for (size_t k = 0; k < s->supernodes.size(); ++k) {
    for (int32_t c = s->supernodes[k].begin; c < s->supernodes[k].end; ++c) s->supernode_of[c] = static_cast<int32_t>(k);
  }
}

void FindUpdates(SupernodalStructure* s) {
  s->updates.resize(s->supernodes.size());
  for (size_t d = 0; d < s->supernodes.size(); ++d) {
    SupernodalStructure::Supernode& source = s->supernodes[d];
    const int32_t count = static_cast<int32_t>(source.rows.size());
    int32_t first = source.columns();
    if (first < count) source.parent = s->supernode_of[source.rows[first]];
    while (first < count) {
      const int32_t target = s->supernode_of[source.rows[first]];
      const SupernodalStructure::Supernode& t = s->supernodes[target];
      SupernodalStructure::Update update{static_cast<int32_t>(d), first, first, Ints(s->memory)};
      while (update.last < count && source.rows[update.last] < t.end) ++update.last;
      size_t at = 0;
      for (int32_t i = first; i < count; ++i) {
        while (t.rows[at] < source.rows[i]) ++at;
        update.relative.push_back(static_cast<int32_t>(at));
      }
      const int64_t work = (3LL * (count - first) + 8) * 3LL * (update.last - first);
      s->work_entries = std::max(s->work_entries, work);
      first = update.last;
      s->updates[target].push_back(std::move(update));
    }
  }
}

void FindTargets(const BlockMatrix& h, const std::vector<uint8_t>& fixed, SupernodalStructure* s) {
  s->targets.resize(h.block_count());
  s->block_column.resize(h.block_count());
  s->blocks_of.resize(s->supernodes.size());
  for (int32_t c = 0; c < h.nodes(); ++c) {
    for (int32_t k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
      s->block_column[k] = c;
      if (!Coupled(fixed, c, h.rows()[k])) continue;
      const int32_t a = s->position[c], b = s->position[h.rows()[k]];
      const int32_t column = std::min(a, b), row = std::max(a, b);
      const SupernodalStructure::Supernode& node = s->supernodes[s->supernode_of[column]];
      const auto at = std::lower_bound(node.rows.begin(), node.rows.end(), row) - node.rows.begin();
      s->targets[k].offset = node.panel + 3LL * (column - node.begin) * node.stride + 3 * at;
      s->targets[k].stride = node.stride;
      // Stored is the block (row h.rows()[k], column c); in the factor the larger position is the row.
      s->targets[k].transposed = b < a;
      s->blocks_of[s->supernode_of[column]].push_back(k);
    }
  }
}

}  // namespace

SupernodalStructure AnalyzePattern(const BlockMatrix& h, const std::vector<uint8_t>& changing, const std::vector<uint8_t>& fixed,
                                   std::pmr::memory_resource* memory) {
  SupernodalStructure s(memory);
  s.nodes = h.nodes();
  if (s.nodes == 0) return s;
  const auto invert = [&s] {
    s.position.resize(s.nodes);
    for (int32_t i = 0; i < s.nodes; ++i) s.position[s.order[i]] = i;
  };
  MinimumDegree(h, changing, fixed, &s.order);
  invert();
  Columns columns = PermutedLower(h, s.position, fixed);
  Ints parent(memory);
  FactorStructure(&columns, &parent);
  // A postorder makes columns of one supernode consecutive without changing the fill.
  const Ints post = Postorder(parent);
  Ints order(s.nodes, 0, memory);
  for (int32_t i = 0; i < s.nodes; ++i) order[i] = s.order[post[i]];
  s.order = std::move(order);
  invert();
  columns = PermutedLower(h, s.position, fixed);
  FactorStructure(&columns, &parent);
  FindSupernodes(columns, &s);
  FindUpdates(&s);
  FindTargets(h, fixed, &s);
  return s;
}

}  // namespace eipc
