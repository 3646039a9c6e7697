#ifndef EIPC_SIM_COLLISION_REGION_WIDTH_H_
#define EIPC_SIM_COLLISION_REGION_WIDTH_H_

namespace eipc {

// How far a region of something that moves by `motion` m reaches beyond its path where a step requests `margin` m: what hardly
// moves gets less.
double MarginFor(double motion, double margin);

// Counts the steps for which a region has been much wider than it would be made now. After some of them it is to be renewed.
class WidthWatch {
 public:
  void Reset() { steps_ = 0; }
  // Once a step, m.
  void Count(double width, double motion, double margin);
  bool TooWide() const { return steps_ > kPatience; }

 private:
  static constexpr int kPatience = 4;
  int steps_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_REGION_WIDTH_H_
