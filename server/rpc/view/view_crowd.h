#ifndef EIPC_SERVER_RPC_VIEW_VIEW_CROWD_H_
#define EIPC_SERVER_RPC_VIEW_VIEW_CROWD_H_

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>

namespace eipc::rpc {

// The connections of the viewer's port. One is a stranger's until it has shown who it is: strangers have only a part of the places,
// one address has only a part of theirs, and a new one closes the oldest instead of being refused, so that whoever holds all places
// of strangers keeps nobody from signing in. Not thread-safe.
class ViewCrowd {
  struct Guest {
    std::string address;
    std::function<void()> close;
    bool known = false;
  };

 public:
  struct Bounds {
    size_t all = 256;
    size_t strangers = 192;
    size_t strangers_of_address = 64;
  };
  // A connection's place, as long as it lives. Must not outlive the crowd.
  class Seat {
   public:
    Seat(ViewCrowd* crowd, std::shared_ptr<Guest> guest) : crowd_(crowd), guest_(std::move(guest)) {}
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;
    ~Seat() { crowd_->guests_.remove(guest_); }
    bool known() const { return guest_->known; }
    void SetKnown(bool known) { guest_->known = known; }

   private:
    ViewCrowd* const crowd_;
    const std::shared_ptr<Guest> guest_;
  };

  explicit ViewCrowd(Bounds bounds) : bounds_(bounds) {}
  ViewCrowd(const ViewCrowd&) = delete;
  ViewCrowd& operator=(const ViewCrowd&) = delete;

  // A stranger's place. `close` ends the connection; it is called when a later one needs the place, which it then has lost. Null
  // when those that are known have all places.
  std::shared_ptr<Seat> Enter(std::string address, std::function<void()> close);
  size_t size() const { return guests_.size(); }

 private:
  size_t Strangers() const;
  size_t StrangersOf(const std::string& address) const;
  std::string MostCrowdedAddress() const;
  // The oldest stranger of the address loses its place.
  void CloseOldest(const std::string& address);

  const Bounds bounds_;
  std::list<std::shared_ptr<Guest>> guests_;  // in the order in which they came
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_VIEW_VIEW_CROWD_H_
