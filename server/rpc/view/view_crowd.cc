#include "server/rpc/view/view_crowd.h"

#include <algorithm>
#include <map>
#include <utility>

namespace eipc::rpc {

size_t ViewCrowd::Strangers() const {
  return static_cast<size_t>(std::count_if(guests_.begin(), guests_.end(), [](const auto& guest) { return !guest->known; }));
}

size_t ViewCrowd::StrangersOf(const std::string& address) const {
  const auto is_one = [&](const auto& guest) { return !guest->known && guest->address == address; };
  return static_cast<size_t>(std::count_if(guests_.begin(), guests_.end(), is_one));
}

std::string ViewCrowd::MostCrowdedAddress() const {
  std::map<std::string, size_t> counts;
  for (const auto& guest : guests_) {
    if (!guest->known) ++counts[guest->address];
  }
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(counts.begin(), counts.end(), fewer);
  return most == counts.end() ? "" : most->first;
}

void ViewCrowd::CloseOldest(const std::string& address) {
  const auto is_one = [&](const auto& guest) { return !guest->known && guest->address == address; };
  const auto oldest = std::find_if(guests_.begin(), guests_.end(), is_one);
  if (oldest == guests_.end()) return;
  const std::shared_ptr<Guest> guest = *oldest;
  guests_.erase(oldest);
  guest->close();
}

std::shared_ptr<ViewCrowd::Seat> ViewCrowd::Enter(std::string address, std::function<void()> close) {
  if (StrangersOf(address) >= bounds_.strangers_of_address) {
    CloseOldest(address);
  } else if (Strangers() >= bounds_.strangers || guests_.size() >= bounds_.all) {
    CloseOldest(MostCrowdedAddress());
  }
  if (guests_.size() >= bounds_.all) return nullptr;
  guests_.push_back(std::make_shared<Guest>(Guest{std::move(address), std::move(close)}));
  return std::make_shared<Seat>(this, guests_.back());
}

}  // namespace eipc::rpc
