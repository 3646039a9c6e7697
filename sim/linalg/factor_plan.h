#ifndef EIPC_SIM_LINALG_FACTOR_PLAN_H_
#define EIPC_SIM_LINALG_FACTOR_PLAN_H_

#include <cstdint>
#include <vector>

#include "sim/linalg/supernodes.h"

namespace eipc {

// How threads share a supernodal factorization: as tasks that are begun in order, each of which waits for what it needs of those
// before it (factor_progress.h). Subtrees of the elimination tree need nothing of each other (Liu 1990, sec. 4), so that each is a
// task. Of the supernodes above them the large ones are cut into pieces of their rows, so that the next supernode takes off what is
// ready while the last one is finished. What is computed, and from what, is the same for any plan, and so are the bits.
class FactorPlan {
 public:
  struct Task {
    enum class Kind : uint8_t {
      kSubtree,  // supernodes [first, supernode], the last of which is the root
      kLoad,     // the matrix's entries of a supernode that is cut into pieces
      kWhole,    // a supernode, entries and all
      kUpdate,   // updates of some rows of its square
      kSquare,   // the factor of the square
      kRows      // updates and factor of some rows below it
    };
    Kind kind = Kind::kWhole;
    int32_t supernode = 0;
    int32_t first = 0;  // of a subtree; of a whole supernode itself
    int32_t piece = 0;
    int32_t begin = 0;  // rows of nodes
    int32_t end = 0;
    double flops = 0;
  };

  // With less to do a factorization is one thread's, and so is a supernode.
  static constexpr double kWorthThreads = 2e6;
  static constexpr double kWorthPieces = 3e5;
  // With more (some 20 ms) threads share it on any machine: it is not tried alone.
  static constexpr double kSurelyWorthThreads = 3e8;

  // `structure` outlives what follows.
  void SetStructure(const SupernodalStructure& structure);
  // Of the supernodes that are to be computed: those marked in `changed`, with each its ancestors.
  double Flops(const std::vector<uint8_t>& changed) const;
  void Split(const std::vector<uint8_t>& changed, int threads);
  const std::vector<Task>& tasks() const { return tasks_; }

  double FlopsOf(int32_t supernode) const { return flops_[supernode]; }
  // 0: it is not cut. The first ones are of its square, up to a multiple of 4 rows, the others of the rows below.
  int32_t PiecesOf(int32_t supernode) const { return SquarePiecesOf(supernode) + PiecesBelow(supernode); }
  int32_t SquarePiecesOf(int32_t supernode) const;
  int32_t PieceOfRow(int32_t supernode, int32_t row) const;

 private:
  int32_t PiecesBelow(int32_t supernode) const;
  void AddPieces(int32_t supernode);
  void AddTask(Task::Kind kind, int32_t supernode, int32_t piece);
  int32_t SquareOf(int32_t supernode) const;

  const SupernodalStructure* structure_ = nullptr;
  std::vector<double> flops_, update_flops_;
  std::vector<int32_t> first_;  // supernode of the subtree of each
  std::vector<double> below_;   // flops of the changed ones of the subtree of each
  std::vector<int32_t> rest_;   // above the subtrees, each after those below it
  std::vector<Task> tasks_;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_FACTOR_PLAN_H_
