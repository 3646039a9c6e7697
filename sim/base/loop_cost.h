#ifndef EIPC_SIM_BASE_LOOP_COST_H_
#define EIPC_SIM_BASE_LOOP_COST_H_

#include <array>
#include <cstdint>

namespace eipc {

// Whether it pays to share a loop among threads, one whose time is about proportional to a measure of its work. What waking a
// thread takes, and moving what it works on from core to core, differs tenfold between machines, and more while others use them; so
// both ways are timed as the loop runs, and the better one is taken. Now and then the other one is tried again. It decides about
// time alone, never about results.
class LoopCost {
 public:
  bool Pays(double work);
  void RanAlone(double work, double ns);
  // Whether another thread came or not: so long it takes to call them.
  void RanShared(double work, double ns);
  // What it takes alone; 0: not known.
  double ExpectedNs(double work) const { return work * alone_.NsOfOne(); }

  // Runs that are expected to take less alone are not shared.
  static constexpr double kLeastNs = 8e3;
  // After so many runs of about one length a few try the way that has not paid: a few, since the first one after the other way
  // finds its data on other cores, and does not count. Where they confirm what was known, the next round is twice as long.
  static constexpr int64_t kRound = 128, kMostRound = 2048, kTries = 4;

 private:
  // Time over work of the last runs, the latest with the most weight. The first ones may find threads asleep and data elsewhere,
  // and any may be held up by whatever else the machine does: of the first few the best one counts, and of the others none for more
  // than a few times the mean.
  class Mean {
   public:
    void Add(double work, double ns);
    bool known() const { return runs_ >= kFirst; }
    double NsOfOne() const { return work_ > 0 ? ns_ / work_ : 0.0; }

   private:
    static constexpr int kFirst = 4;
    double ns_ = 0, work_ = 0;
    int runs_ = 0;  // up to kFirst
  };
  // Runs of about one length.
  struct Length {
    Mean alone, shared;
    int64_t asked = 0;  // whether it pays, since both were known
    int64_t tries_at = kRound;
    int64_t round = kRound;
    bool paid = false;  // when it was last tried
    bool was_shared = false;
  };
  Length* LengthOf(double work);

  Mean alone_;  // of all lengths
  std::array<Length, 4> lengths_;
};

}  // namespace eipc

#endif  // EIPC_SIM_BASE_LOOP_COST_H_
