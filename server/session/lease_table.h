#ifndef EIPC_SERVER_SESSION_LEASE_TABLE_H_
#define EIPC_SERVER_SESSION_LEASE_TABLE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/session/fifo_gate.h"
#include "server/session/ids.h"

namespace eipc {

// Things that clients name and that one call uses at a time. Each has an owner; to everyone else it does not exist.
//
// Invariants: an id names one thing for ever: {slot}-{generation}-{random}, the generation grows when a slot is reused; a lease
// keeps its thing alive, removed or not; at most one lease of a thing exists; after Remove nobody gets a new one.
template <typename T>
class LeaseTable {
 public:
  struct Options {
    std::string noun = "thing";      // for messages: "session"
    std::string prefix = "things/";  // of names
    std::string reason = "THING";    // of errors: THING_NOT_FOUND
    int capacity = 1;
    int max_waiting = 1;
  };

 private:
  struct Cell {
    Cell(std::string cell_name, std::string cell_owner, std::unique_ptr<T> cell_value, const Options& options)
        : name(std::move(cell_name)),
          owner(std::move(cell_owner)),
          value(std::move(cell_value)),
          gate({1, options.max_waiting, absl::StrCat("the ", options.noun)}) {}
    const std::string name;
    const std::string owner;
    const std::unique_ptr<T> value;  // used by the holder of the gate's only pass
    FifoGate gate;
    std::atomic<bool> removed = false;
  };

 public:
  // The right to use one thing until destroyed.
  class Lease {
   public:
    T& operator*() const { return *cell_->value; }
    T* operator->() const { return cell_->value.get(); }
    const std::string& name() const { return cell_->name; }
    // Someone removed the thing while it is in use: finish soon.
    bool removed() const { return cell_->removed.load(std::memory_order_acquire); }

   private:
    friend class LeaseTable;
    Lease(std::shared_ptr<Cell> cell, FifoGate::Pass pass) : cell_(std::move(cell)), pass_(std::move(pass)) {}
    std::shared_ptr<Cell> cell_;  // before pass_: the gate outlives its pass
    FifoGate::Pass pass_;
  };

  // A name whose thing is still being made. It takes room, but to everyone else it does not exist before Publish; unless it is
  // published it gives its room back when destroyed. Must not outlive the table.
  class Reservation {
   public:
    Reservation(Reservation&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)),
          index_(other.index_),
          name_(std::move(other.name_)),
          owner_(std::move(other.owner_)) {}
    Reservation& operator=(Reservation&&) = delete;
    ~Reservation() {
      if (table_ != nullptr) table_->GiveBack(index_);
    }
    const std::string& name() const { return name_; }
    const std::string& owner() const { return owner_; }

   private:
    friend class LeaseTable;
    Reservation(LeaseTable* table, size_t index, std::string name, std::string owner)
        : table_(table), index_(index), name_(std::move(name)), owner_(std::move(owner)) {}
    LeaseTable* table_;
    size_t index_;
    std::string name_;
    std::string owner_;
  };

  explicit LeaseTable(Options options) : options_(std::move(options)), slots_(options_.capacity) {}

  // Whether another one fits right now: to refuse before building it.
  absl::Status CheckRoom() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return used_ < options_.capacity ? absl::OkStatus() : Full();
  }

  // A new name for a thing to be made; RESOURCE_EXHAUSTED when the table is full.
  absl::StatusOr<Reservation> Reserve(const std::string& owner = "") {
    const std::string random = RandomHex128();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (used_ == options_.capacity) return Full();
    size_t index = 0;
    while (slots_[index].taken()) ++index;
    return ReserveSlot(index, absl::StrCat(options_.prefix, index, "-", slots_[index].generation, "-", random), owner);
  }

  // The name that a thing had in a table before this one. RESOURCE_EXHAUSTED when its place is taken or beyond this table.
  absl::StatusOr<Reservation> ReserveNamed(const std::string& name, const std::string& owner) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int64_t index = LeadingIndex(name, options_.prefix);
    if (index < 0 || index >= static_cast<int64_t>(slots_.size()) || slots_[index].taken()) return Full();
    return ReserveSlot(static_cast<size_t>(index), name, owner);
  }

  // Makes the finished thing known under its name. Whoever made it has the first lease: others see the thing, and may remove it,
  // but use it only after that.
  Lease Publish(Reservation reservation, std::unique_ptr<T> value) {
    auto cell = std::make_shared<Cell>(reservation.name_, reservation.owner_, std::move(value), options_);
    FifoGate::Pass pass = *cell->gate.Enter({});  // nobody else knows the gate
    const std::lock_guard<std::mutex> lock(mutex_);
    Slot& slot = slots_[reservation.index_];
    slot.cell = cell;
    slot.reserved = false;
    reservation.table_ = nullptr;
    return Lease(std::move(cell), std::move(pass));
  }

  // For a thing that needs no name to be made: the name.
  absl::StatusOr<std::string> Add(std::unique_ptr<T> value, const std::string& owner = "") {
    absl::StatusOr<Reservation> reservation = Reserve(owner);
    if (!reservation.ok()) return reservation.status();
    return Publish(*std::move(reservation), std::move(value)).name();
  }
  absl::Status AddNamed(const std::string& name, std::unique_ptr<T> value, const std::string& owner) {
    absl::StatusOr<Reservation> reservation = ReserveNamed(name, owner);
    if (!reservation.ok()) return reservation.status();
    Publish(*std::move(reservation), std::move(value));
    return absl::OkStatus();
  }

  // Waits for its turn with the thing. NOT_FOUND, RESOURCE_EXHAUSTED when too many wait, or the budget's errors.
  absl::StatusOr<Lease> Acquire(const std::string& name, const StepBudget& budget, const std::string& owner = "") {
    const std::shared_ptr<Cell> cell = Find(name, owner);
    if (cell == nullptr) return NotFound(name);
    absl::StatusOr<FifoGate::Pass> pass = cell->gate.Enter(budget);
    if (!pass.ok()) return pass.status();
    return Lease(cell, *std::move(pass));
  }

  // Takes the name away at once, tells whoever uses the thing to stop, and waits until they have (or the budget ends: they still
  // stop, but later).
  absl::Status Remove(const std::string& name, const StepBudget& budget, const std::string& owner = "") {
    std::shared_ptr<Cell> cell;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      Slot* slot = FindSlot(name, owner);
      if (slot == nullptr) return NotFound(name);
      cell = std::move(slot->cell);
      slot->cell = nullptr;
      ++slot->generation;
      --used_;
    }
    cell->removed.store(true, std::memory_order_release);
    cell->gate.Close(absl::NotFoundError(absl::StrCat(options_.reason, "_NOT_FOUND: '", name, "' was deleted meanwhile")));
    return cell->gate.WaitUntilEmpty(budget);
  }

  // A thing without a lease: only what is safe to read while others use it may be read. nullptr when there is none.
  std::shared_ptr<const T> Peek(const std::string& name, const std::string& owner = "") {
    const std::shared_ptr<Cell> cell = Find(name, owner);
    return cell == nullptr ? nullptr : std::shared_ptr<const T>(cell, cell->value.get());
  }

  struct Entry {
    std::string name;
    std::string owner;
    std::shared_ptr<const T> value;  // as Peek
    bool in_use = false;
  };
  // Everything, in order of names.
  std::vector<Entry> All() const {
    std::vector<Entry> entries;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const Slot& slot : slots_) {
        if (slot.cell == nullptr) continue;
        entries.push_back({slot.cell->name, slot.cell->owner, std::shared_ptr<const T>(slot.cell, slot.cell->value.get()),
                           slot.cell->gate.inside() > 0});
      }
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
    return entries;
  }
  // At most `count` of an owner with names after `after`, in order of their names.
  std::vector<Entry> List(const std::string& owner, const std::string& after, int count) const {
    std::vector<Entry> entries;
    for (Entry& entry : All()) {
      if (entry.owner == owner && entry.name > after && static_cast<int>(entries.size()) < count)
        entries.push_back(std::move(entry));
    }
    return entries;
  }

  int size() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return used_;
  }

  // What a call with a name that the caller has nothing under answers.
  absl::Status NotFound(const std::string& name) const {
    return absl::NotFoundError(absl::StrCat(options_.reason, "_NOT_FOUND: no ", options_.noun, " named '", Printable(name),
                                            "' (deleted, or it never was)"));
  }

 private:
  struct Slot {
    int64_t generation = 1;
    std::shared_ptr<Cell> cell;
    bool reserved = false;
    bool taken() const { return reserved || cell != nullptr; }
  };

  // Requires mutex_, and that the slot is free.
  Reservation ReserveSlot(size_t index, std::string name, std::string owner) {
    slots_[index].reserved = true;
    ++used_;
    return Reservation(this, index, std::move(name), std::move(owner));
  }

  void GiveBack(size_t index) {
    const std::lock_guard<std::mutex> lock(mutex_);
    slots_[index].reserved = false;
    ++slots_[index].generation;
    --used_;
  }

  // Requires mutex_.
  Slot* FindSlot(const std::string& name, const std::string& owner) {
    const int64_t index = LeadingIndex(name, options_.prefix);
    if (index < 0 || index >= static_cast<int64_t>(slots_.size())) return nullptr;
    Slot& slot = slots_[index];
    return slot.cell != nullptr && slot.cell->name == name && slot.cell->owner == owner ? &slot : nullptr;
  }

  std::shared_ptr<Cell> Find(const std::string& name, const std::string& owner) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Slot* slot = FindSlot(name, owner);
    return slot == nullptr ? nullptr : slot->cell;
  }

  absl::Status Full() const {
    return absl::ResourceExhaustedError(
        absl::StrCat("TOO_MANY_", options_.reason, "S: the server holds at most ", options_.capacity, "; delete one first"));
  }
  const Options options_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Slot> slots_;
  int used_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_LEASE_TABLE_H_
