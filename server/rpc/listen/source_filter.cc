#include "server/rpc/listen/source_filter.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>

namespace eipc::rpc {
namespace {

// A program of classic BPF. Offsets are counted from the IP header; a result of 0 drops the packet.
class Program {
 public:
  void LoadByte(uint32_t offset) { Add(BPF_LD | BPF_B | BPF_ABS, kNetwork + offset); }
  void LoadWord(uint32_t offset) { Add(BPF_LD | BPF_W | BPF_ABS, kNetwork + offset); }
  void ShiftRight(uint32_t bits) { Add(BPF_ALU | BPF_RSH | BPF_K, bits); }
  // Goes on with the next instruction where the loaded value is this one, otherwise leaves out `skipped`.
  void UnlessEqualSkip(uint32_t value, uint8_t skipped) { Add(BPF_JMP | BPF_JEQ | BPF_K, value, skipped); }
  void Skip(uint32_t skipped) { Add(BPF_JMP | BPF_JA, skipped); }
  void Drop() { Add(BPF_RET | BPF_K, 0); }
  void Keep() { Add(BPF_RET | BPF_K, UINT32_MAX); }
  void Append(const Program& other) { code_.insert(code_.end(), other.code_.begin(), other.code_.end()); }
  uint32_t size() const { return static_cast<uint32_t>(code_.size()); }

  bool Attach(int socket) {
    const sock_fprog program = {static_cast<unsigned short>(code_.size()), code_.data()};
    return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
  }

 private:
  static constexpr uint32_t kNetwork = static_cast<uint32_t>(SKF_NET_OFF);
  void Add(uint16_t code, uint32_t value, uint8_t jump_unless = 0) { code_.push_back({code, 0, jump_unless, value}); }
  std::vector<sock_filter> code_;
};

constexpr uint32_t kVersionBits = 4;
constexpr uint32_t kSourceV4 = 12, kSourceV6 = 8;  // where the source address is in the header
constexpr int kWordsV6 = 4;

// The programs for either kind of address, each of which ends the filter.
struct BothKinds {
  Program v4, v6;
};

void DropIfFrom(const std::string& source, BothKinds* programs) {
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, source.c_str(), &v4) == 1) {
    programs->v4.UnlessEqualSkip(ntohl(v4.s_addr), 1);
    programs->v4.Drop();
  } else if (inet_pton(AF_INET6, source.c_str(), &v6) == 1) {
    for (int i = 0; i < kWordsV6; ++i) {
      programs->v6.LoadWord(kSourceV6 + 4 * i);
      programs->v6.UnlessEqualSkip(ntohl(v6.s6_addr32[i]), static_cast<uint8_t>(2 * (kWordsV6 - 1 - i) + 1));
    }
    programs->v6.Drop();
  }
}

}  // namespace

bool DropSources(int listener, const std::vector<std::string>& sources) {
  if (sources.empty()) return DropNothing(listener);
  BothKinds programs;
  programs.v4.LoadWord(kSourceV4);
  for (size_t i = 0; i < std::min(sources.size(), kMostDroppedSources); ++i) DropIfFrom(sources[i], &programs);
  programs.v4.Keep();
  programs.v6.Keep();
  Program whole;
  whole.LoadByte(0);
  whole.ShiftRight(kVersionBits);
  whole.UnlessEqualSkip(6, 1);
  whole.Skip(programs.v4.size());
  whole.Append(programs.v4);
  whole.Append(programs.v6);
  return whole.Attach(listener);
}

bool DropNothing(int socket) {
  const int ignored = 0;
  return setsockopt(socket, SOL_SOCKET, SO_DETACH_FILTER, &ignored, sizeof(ignored)) == 0;
}

}  // namespace eipc::rpc
