#ifndef EIPC_SERVER_SESSION_TENANT_TURNS_H_
#define EIPC_SERVER_SESSION_TENANT_TURNS_H_

#include <algorithm>
#include <list>
#include <optional>
#include <string>
#include <utility>

namespace eipc {

// Items that wait for one of a few places, and how many places each tenant holds. The next place goes to the tenant that holds the
// fewest, among those to the one whose last turn is longest ago; within a tenant in order of arrival.
//
// Bound: a tenant that holds nothing gets its turn after at most one item of each other tenant that waits, whatever else comes.
// (Its line stands where it began to wait, or behind those that have not had a turn since its own; who had a turn goes to the end.)
//
// Not thread-safe.
template <typename Item>
class TenantTurns {
 public:
  void Push(const std::string& tenant, Item item) {
    LineOf(tenant).items.push_back(std::move(item));
    ++waiting_;
  }

  // The next item of those tenants that may have a place now; its tenant holds one from now on.
  template <typename May>
  std::optional<Item> Take(const May& may) {
    auto best = lines_.end();
    for (auto line = lines_.begin(); line != lines_.end(); ++line) {
      if (line->items.empty() || !may(line->tenant)) continue;
      if (best == lines_.end() || line->holding < best->holding) best = line;
    }
    if (best == lines_.end()) return std::nullopt;
    std::optional<Item> item(std::move(best->items.front()));
    best->items.pop_front();
    --waiting_;
    ++best->holding;
    lines_.splice(lines_.end(), lines_, best);
    return item;
  }
  // A place that was free: nothing waits for it.
  void Hold(const std::string& tenant) {
    ++LineOf(tenant).holding;
    lines_.splice(lines_.end(), lines_, Find(tenant));
  }
  void Release(const std::string& tenant) {
    const auto line = Find(tenant);
    --line->holding;
    DropIfEmpty(line);
  }

  // Takes an item away that waits. False: it does not.
  bool Remove(const std::string& tenant, const Item& item) {
    const auto line = Find(tenant);
    if (line == lines_.end()) return false;
    const auto found = std::find(line->items.begin(), line->items.end(), item);
    if (found == line->items.end()) return false;
    line->items.erase(found);
    --waiting_;
    DropIfEmpty(line);
    return true;
  }
  // The item of a tenant that came last, nullptr when none waits.
  const Item* Last(const std::string& tenant) const {
    for (const Line& line : lines_) {
      if (line.tenant == tenant && !line.items.empty()) return &line.items.back();
    }
    return nullptr;
  }

  int waiting() const { return waiting_; }
  int holding(const std::string& tenant) const {
    const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const Line& each) { return each.tenant == tenant; });
    return line == lines_.end() ? 0 : line->holding;
  }

 private:
  struct Line {
    std::string tenant;
    int holding = 0;
    std::list<Item> items;
  };
  using Lines = std::list<Line>;

  typename Lines::iterator Find(const std::string& tenant) {
    return std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.tenant == tenant; });
  }
  Line& LineOf(const std::string& tenant) {
    const auto found = Find(tenant);
    return found != lines_.end() ? *found : lines_.emplace_back(Line{tenant, 0, {}});
  }
  void DropIfEmpty(typename Lines::iterator line) {
    if (line->holding == 0 && line->items.empty()) lines_.erase(line);
  }

  Lines lines_;  // whose turn is longest ago first; those that hold or wait
  int waiting_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_TENANT_TURNS_H_
