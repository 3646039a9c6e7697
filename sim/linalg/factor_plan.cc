#include "sim/linalg/factor_plan.h"

#include <algorithm>

#include "sim/base/refill.h"

namespace eipc {
namespace {

using Supernode = SupernodalStructure::Supernode;

// Of the Cholesky factor of the square and the rows below it.
double PanelFlops(const Supernode& node) {
  const double columns = 3.0 * node.columns(), rows = 3.0 * node.row_count;
  return columns * columns * (rows - 2 * columns / 3);
}

// Of each column only the rows from its own on.
double UpdateFlops(const SupernodalStructure& structure, int32_t s) {
  double flops = 0;
  for (const SupernodalStructure::Update& u : structure.UpdatesOf(s)) {
    const double columns = u.last - u.first, blocks = columns * (u.relative_count - 0.5 * (columns - 1));
    flops += 2.0 * 27.0 * blocks * structure.supernodes[u.source].columns();
  }
  return flops;
}

// A subtree is a thread's alone: so large that taking it costs nothing beside it, so small that threads end at about the same time.
constexpr double kLeastFlops = 1e5;
constexpr double kSharesPerThread = 4;
// A multiple of 4 nodes, since FactorRows takes pieces of a multiple of 4 scalar rows; their products fit the second cache.
constexpr int32_t kNodesOfAPiece = 16;

}  // namespace

void FactorPlan::SetStructure(const SupernodalStructure& structure) {
  structure_ = &structure;
  const int32_t count = static_cast<int32_t>(structure.supernodes.size());
  flops_.resize(count);
  update_flops_.resize(count);
  first_.resize(count);
  int64_t most = 0;
  for (int32_t s = 0; s < count; ++s) {
    update_flops_[s] = UpdateFlops(structure, s);
    flops_[s] = update_flops_[s] + PanelFlops(structure.supernodes[s]);
    first_[s] = s;
    most += 3 + PiecesOf(s);
  }
  ReserveMore(&rest_, count);
  ReserveMore(&tasks_, most);
  for (int32_t s = 0; s < count; ++s) {  // children come before their parents
    const int32_t parent = structure.supernodes[s].parent;
    if (parent >= 0) first_[parent] = std::min(first_[parent], first_[s]);
  }
}

double FactorPlan::Flops(const std::vector<uint8_t>& changed) const {
  double flops = 0;
  for (size_t s = 0; s < flops_.size(); ++s) flops += changed[s] ? flops_[s] : 0.0;
  return flops;
}

// Nodes of the square.
int32_t FactorPlan::SquareOf(int32_t supernode) const {
  const Supernode& node = structure_->supernodes[supernode];
  return std::min(node.row_count, (node.columns() + 3) / 4 * 4);
}

int32_t FactorPlan::SquarePiecesOf(int32_t supernode) const {
  return flops_[supernode] < kWorthPieces ? 0 : (SquareOf(supernode) + kNodesOfAPiece - 1) / kNodesOfAPiece;
}

int32_t FactorPlan::PiecesBelow(int32_t supernode) const {
  if (flops_[supernode] < kWorthPieces) return 0;
  return (structure_->supernodes[supernode].row_count - SquareOf(supernode) + kNodesOfAPiece - 1) / kNodesOfAPiece;
}

int32_t FactorPlan::PieceOfRow(int32_t supernode, int32_t row) const {
  const int32_t square = SquareOf(supernode);
  return row < square ? row / kNodesOfAPiece : SquarePiecesOf(supernode) + (row - square) / kNodesOfAPiece;
}

void FactorPlan::AddTask(Task::Kind kind, int32_t supernode, int32_t piece) {
  const int32_t square = SquareOf(supernode), above = SquarePiecesOf(supernode), rows = structure_->supernodes[supernode].row_count;
  Task task{.kind = kind, .supernode = supernode, .piece = piece};
  if (kind == Task::Kind::kSquare) {
    task.end = square;
    task.flops = (flops_[supernode] - update_flops_[supernode]) * square / rows;
  } else {
    const bool below = kind == Task::Kind::kRows;
    task.begin = below ? square + kNodesOfAPiece * (piece - above) : kNodesOfAPiece * piece;
    task.end = std::min(below ? rows : square, task.begin + kNodesOfAPiece);
    task.flops = (below ? flops_ : update_flops_)[supernode] * (task.end - task.begin) / rows;
  }
  tasks_.push_back(task);
}

void FactorPlan::AddPieces(int32_t supernode) {
  const int32_t above = SquarePiecesOf(supernode);
  for (int32_t piece = 0; piece < above; ++piece) AddTask(Task::Kind::kUpdate, supernode, piece);
  AddTask(Task::Kind::kSquare, supernode, 0);
  for (int32_t piece = above; piece < PiecesOf(supernode); ++piece) AddTask(Task::Kind::kRows, supernode, piece);
}

void FactorPlan::Split(const std::vector<uint8_t>& changed, int threads) {
  const int32_t count = static_cast<int32_t>(flops_.size());
  const auto parent_of = [this](int32_t s) { return structure_->supernodes[s].parent; };
  Refill(&below_, count, 0.0);
  for (int32_t s = 0; s < count; ++s) {
    if (!changed[s]) continue;
    below_[s] += flops_[s];
    if (parent_of(s) >= 0) below_[parent_of(s)] += below_[s];
  }
  const double most = std::max(kLeastFlops, Flops(changed) / (kSharesPerThread * threads));
  rest_.clear();
  tasks_.clear();
  for (int32_t s = 0; s < count; ++s) {
    if (!changed[s]) continue;
    if (below_[s] > most) {
      rest_.push_back(s);
    } else if (parent_of(s) < 0 || below_[parent_of(s)] > most) {
      tasks_.push_back({.kind = Task::Kind::kSubtree, .supernode = s, .first = first_[s], .flops = below_[s]});
    }
  }
  std::sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) { return a.flops > b.flops; });
  // Entries are loaded one supernode ahead: its pieces wait for them.
  const auto load = [this](size_t k) {
    if (k >= rest_.size() || PiecesOf(rest_[k]) == 0) return;
    tasks_.push_back({.kind = Task::Kind::kLoad, .supernode = rest_[k]});
  };
  load(0);
  for (size_t k = 0; k < rest_.size(); ++k) {
    load(k + 1);
    if (PiecesOf(rest_[k]) == 0) {
      tasks_.push_back({.kind = Task::Kind::kWhole, .supernode = rest_[k], .first = rest_[k], .flops = flops_[rest_[k]]});
    } else {
      AddPieces(rest_[k]);
    }
  }
}

}  // namespace eipc
