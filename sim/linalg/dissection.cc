#include "sim/linalg/dissection.h"

#include <algorithm>
#include <numeric>

namespace eipc {
namespace {

// Marks of nodes.
constexpr int32_t kOutside = 0, kInside = 1, kSeen = 2;

}  // namespace

void Dissection::FindNeighbours(const BlockMatrix& h) {
  const int32_t n = h.nodes();
  const auto each_pair = [&](const auto& visit) {
    for (int32_t c = 0; c < n; ++c) {
      for (int32_t k = h.column_start()[c] + 1; k < h.column_start()[c + 1]; ++k) visit(c, h.rows()[k]);
    }
  };
  neighbour_start_.assign(n + 1, 0);
  each_pair([&](int32_t a, int32_t b) { ++neighbour_start_[a + 1], ++neighbour_start_[b + 1]; });
  std::partial_sum(neighbour_start_.begin(), neighbour_start_.end(), neighbour_start_.begin());
  neighbours_.resize(neighbour_start_[n]);
  std::vector<int64_t> next(neighbour_start_.begin(), neighbour_start_.end() - 1);
  each_pair([&](int32_t a, int32_t b) { neighbours_[next[a]++] = b, neighbours_[next[b]++] = a; });
}

void Dissection::LayOut(const BlockMatrix& h, int32_t least) {
  order_.clear();
  levels_.clear();
  std::vector<int32_t> nodes(h.nodes());
  std::iota(nodes.begin(), nodes.end(), 0);
  if (h.nodes() < 2 * least) {
    Append(nodes, 0);
    return;
  }
  FindNeighbours(h);
  mark_.assign(h.nodes(), kOutside);
  Cut(nodes, least);
}

int Dissection::Append(const std::vector<int32_t>& nodes, int level) {
  const auto begin = static_cast<int32_t>(order_.size());
  order_.insert(order_.end(), nodes.begin(), nodes.end());
  if (static_cast<int>(levels_.size()) <= level) levels_.resize(level + 1);
  levels_[level].push_back({begin, static_cast<int32_t>(order_.size())});
  return level;
}

std::vector<int32_t> Dissection::Separator(const std::vector<int32_t>& sequence) {
  const auto half = sequence.begin() + static_cast<int64_t>(sequence.size() / 2);
  for (auto n = sequence.begin(); n != half; ++n) mark_[*n] = kInside;
  std::vector<int32_t> separator;
  std::copy_if(half, sequence.end(), std::back_inserter(separator), [&](int32_t n) {
    const auto first = neighbours_.begin() + neighbour_start_[n], last = neighbours_.begin() + neighbour_start_[n + 1];
    return std::any_of(first, last, [&](int32_t other) { return mark_[other] == kInside; });
  });
  for (const int32_t n : sequence) mark_[n] = kOutside;
  return separator;
}

void Dissection::AppendByDistance(int32_t from, std::vector<int32_t>* sequence) {
  size_t next = sequence->size();
  mark_[from] = kSeen;
  for (sequence->push_back(from); next < sequence->size(); ++next) {
    const int32_t n = (*sequence)[next];
    for (int64_t k = neighbour_start_[n]; k < neighbour_start_[n + 1]; ++k) {
      if (mark_[neighbours_[k]] != kInside) continue;
      mark_[neighbours_[k]] = kSeen;
      sequence->push_back(neighbours_[k]);
    }
  }
}

std::vector<int32_t> Dissection::ByDistance(const std::vector<int32_t>& nodes) {
  for (const int32_t n : nodes) mark_[n] = kInside;
  std::vector<int32_t> sequence, component;
  for (const int32_t n : nodes) {
    if (mark_[n] != kInside) continue;
    component.clear();
    AppendByDistance(n, &component);
    for (const int32_t other : component) mark_[other] = kInside;
    AppendByDistance(component.back(), &sequence);
  }
  for (const int32_t n : nodes) mark_[n] = kOutside;
  return sequence;
}

int Dissection::Cut(const std::vector<int32_t>& nodes, int32_t least) {
  const auto count = static_cast<int32_t>(nodes.size());
  if (count < 2 * least) return Append(nodes, 0);
  std::vector<int32_t> sequence = ByDistance(nodes), separator = Separator(sequence), natural = Separator(nodes);
  if (natural.size() <= separator.size()) {
    separator.swap(natural);
    sequence = nodes;
  }
  if (static_cast<int32_t>(separator.size()) > count / 4) return Append(nodes, 0);
  std::sort(separator.begin(), separator.end());
  const auto half = sequence.begin() + count / 2;
  std::vector<int32_t> first(sequence.begin(), half), second(half, sequence.end()), rest;
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  std::set_difference(second.begin(), second.end(), separator.begin(), separator.end(), std::back_inserter(rest));
  const int level = std::max(Cut(first, least), Cut(rest, least));
  return separator.empty() ? level : Append(separator, level + 1);
}

}  // namespace eipc
