#ifndef EIPC_SERVER_SESSION_LEASE_TABLE_H_
#define EIPC_SERVER_SESSION_LEASE_TABLE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
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
// Invariants: an id names one thing for ever, over restarts too: {count}-{random}; a lease keeps its thing alive, removed or not;
// at most one lease of a thing exists; after Remove no call gets a new one.
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

  // Things that care when they were used last have Touch(): the end of a call counts, however long it took.
  static void NoteUse(T* value) {
    if constexpr (requires { value->Touch(); }) value->Touch();
  }
  // Things that keep others from being deleted have Retire(): what is removed and used by no call keeps nothing, whatever reads it.
  static void RetireRemoved(T* value) {
    if constexpr (requires { value->Retire(); }) value->Retire();
  }

 public:
  // The right to use one thing until destroyed.
  class Lease {
   public:
    T& operator*() const { return *cell_->value; }
    T* operator->() const { return cell_->value.get(); }
    const std::string& name() const { return cell_->name; }
    // Someone removed the thing while it is in use: finish soon.
    bool removed() const { return cell_->removed.load(std::memory_order_acquire); }

    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;

   private:
    friend class LeaseTable;
    struct Leaver {
      void operator()(Cell* cell) const { NoteUse(cell->value.get()); }
    };
    Lease(std::shared_ptr<Cell> cell, FifoGate::Pass pass) : cell_(std::move(cell)), pass_(std::move(pass)), in_use_(cell_.get()) {}
    std::shared_ptr<Cell> cell_;  // before pass_: the gate outlives its pass
    FifoGate::Pass pass_;
    std::unique_ptr<Cell, Leaver> in_use_;  // after pass_: who leaves has noted its use before
  };

  // A name whose thing is still being made. It takes room, but to everyone else it does not exist before Publish; unless it is
  // published it gives its room back when destroyed. Must not outlive the table.
  class Reservation {
   public:
    Reservation(Reservation&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)), name_(std::move(other.name_)), owner_(std::move(other.owner_)) {}
    Reservation& operator=(Reservation&&) = delete;
    ~Reservation() {
      if (table_ != nullptr) table_->GiveBack(name_);
    }
    const std::string& name() const { return name_; }
    const std::string& owner() const { return owner_; }

   private:
    friend class LeaseTable;
    Reservation(LeaseTable* table, std::string name, std::string owner)
        : table_(table), name_(std::move(name)), owner_(std::move(owner)) {}
    LeaseTable* table_;
    std::string name_;
    std::string owner_;
  };

  explicit LeaseTable(Options options) : options_(std::move(options)) {}

  // Says what has become of a name that nothing is under; OK: nothing is known of it. Before the first use.
  void ExplainAbsence(std::function<absl::Status(const std::string& name, const std::string& owner)> explain) {
    explain_absence_ = std::move(explain);
  }

  // Whether another one fits right now: to refuse before building it.
  absl::Status CheckRoom() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return Room();
  }

  // A new name for a thing to be made; RESOURCE_EXHAUSTED when the table is full.
  absl::StatusOr<Reservation> Reserve(const std::string& owner = "") {
    const std::string random = RandomHex128();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (absl::Status room = Room(); !room.ok()) return room;
    return ReserveName(absl::StrCat(options_.prefix, ++made_, "-", random), owner);
  }

  // The name that a thing had in a table before this one. RESOURCE_EXHAUSTED when the table is full, ALREADY_EXISTS when something
  // has that name.
  absl::StatusOr<Reservation> ReserveNamed(const std::string& name, const std::string& owner) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (absl::Status room = Room(); !room.ok()) return room;
    if (cells_.count(name) > 0) return absl::AlreadyExistsError(absl::StrCat("'", Printable(name), "' is in use"));
    return ReserveName(name, owner);
  }

  // Makes the finished thing known under its name. Its maker has the first lease: others see the thing, and may remove it,
  // but use it only after that.
  Lease Publish(Reservation reservation, std::unique_ptr<T> value) {
    auto cell = std::make_shared<Cell>(reservation.name_, reservation.owner_, std::move(value), options_);
    FifoGate::Pass pass = *cell->gate.Enter({});  // no other thread knows the gate
    const std::lock_guard<std::mutex> lock(mutex_);
    cells_[reservation.name_] = cell;
    reservation.table_ = nullptr;
    return Lease(std::move(cell), std::move(pass));
  }

  // Adds a thing that needs no name to be made, and returns its name.
  absl::StatusOr<std::string> Add(std::unique_ptr<T> value, const std::string& owner = "") {
    absl::StatusOr<Reservation> reservation = Reserve(owner);
    if (!reservation.ok()) return reservation.status();
    return Publish(*std::move(reservation), std::move(value)).name();
  }

  // Waits for its turn with the thing; those who only read do not take the places of those who change it. NOT_FOUND,
  // RESOURCE_EXHAUSTED when too many wait, or the budget's errors.
  absl::StatusOr<Lease> Acquire(const std::string& name, const StepBudget& budget, const std::string& owner = "",
                                FifoGate::Use use = FifoGate::Use::kChange) {
    const std::shared_ptr<Cell> cell = Find(name, owner);
    if (cell == nullptr) return Absent(name, owner);
    absl::StatusOr<FifoGate::Pass> pass = cell->gate.Enter(budget, use);
    if (!pass.ok()) return pass.status();
    return Lease(cell, *std::move(pass));
  }

  // Takes the name away at once, asks the calls that use the thing to stop, and waits until they have (or the budget ends: they
  // still stop, but later).
  absl::Status Remove(const std::string& name, const StepBudget& budget, const std::string& owner = "") {
    std::shared_ptr<Cell> cell;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      cell = FindCell(name, owner);
      if (cell != nullptr) cells_.erase(name);
    }
    if (cell == nullptr) return Absent(name, owner);
    cell->removed.store(true, std::memory_order_release);
    cell->gate.Close(Deleted(name));
    const absl::Status ended = cell->gate.WaitUntilEmpty(budget);
    if (ended.ok()) RetireRemoved(cell->value.get());
    return ended;
  }

  // Takes the name away unless a call uses the thing, or waits for it, or `idle` says no. FAILED_PRECONDITION then: nothing has
  // happened. NOT_FOUND.
  template <typename Idle>
  absl::Status RemoveIdle(const std::string& name, const std::string& owner, const Idle& idle) {
    std::shared_ptr<Cell> cell;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      cell = FindCell(name, owner);
      if (cell != nullptr) {
        if (!idle(*cell->value) || !cell->gate.CloseIfEmpty(Deleted(name))) {
          return absl::FailedPreconditionError(absl::StrCat("IN_USE: '", name, "' is in use"));
        }
        cells_.erase(name);
      }
    }
    if (cell == nullptr) return Absent(name, owner);
    cell->removed.store(true, std::memory_order_release);
    RetireRemoved(cell->value.get());
    return absl::OkStatus();
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
      for (const auto& [name, cell] : cells_) {
        if (cell == nullptr) continue;
        entries.push_back({name, cell->owner, std::shared_ptr<const T>(cell, cell->value.get()), cell->gate.inside() > 0});
      }
    }
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
    return static_cast<int>(cells_.size());
  }

  // What a call with a name that the caller has nothing under answers.
  absl::Status Absent(const std::string& name, const std::string& owner) const {
    if (explain_absence_) {
      if (absl::Status known = explain_absence_(name, owner); !known.ok()) return known;
    }
    return absl::NotFoundError(absl::StrCat(options_.reason, "_NOT_FOUND: no ", options_.noun, " named '", Printable(name),
                                            "' (deleted, or it never was)"));
  }

 private:
  // These require mutex_.
  Reservation ReserveName(std::string name, const std::string& owner) {
    cells_[name] = nullptr;
    return Reservation(this, std::move(name), owner);
  }
  std::shared_ptr<Cell> FindCell(const std::string& name, const std::string& owner) const {
    const auto found = cells_.find(name);
    return found != cells_.end() && found->second != nullptr && found->second->owner == owner ? found->second : nullptr;
  }
  absl::Status Room() const { return static_cast<int>(cells_.size()) < options_.capacity ? absl::OkStatus() : Full(); }

  void GiveBack(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    cells_.erase(name);
  }

  std::shared_ptr<Cell> Find(const std::string& name, const std::string& owner) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return FindCell(name, owner);
  }

  absl::Status Deleted(const std::string& name) const {
    return absl::NotFoundError(absl::StrCat(options_.reason, "_NOT_FOUND: '", name, "' was deleted meanwhile"));
  }
  absl::Status Full() const {
    return absl::ResourceExhaustedError(
        absl::StrCat("TOO_MANY_", options_.reason, "S: the server holds at most ", options_.capacity, "; delete one first"));
  }
  const Options options_;
  std::function<absl::Status(const std::string&, const std::string&)> explain_absence_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, std::shared_ptr<Cell>> cells_;  // by name; null: reserved
  int64_t made_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_LEASE_TABLE_H_
