#include "server/rpc/listen/unanswered_streams.h"

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"

namespace eipc::rpc {
namespace {

using Json = nlohmann::json;

// What a call of channelz returns. Discarded when there is no such thing.
Json Read(char* text) {
  const std::unique_ptr<char, void (*)(void*)> owner(text, gpr_free);
  return text == nullptr ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

std::string Text(const Json& object, const std::string& path) {
  const Json::json_pointer at(path);
  return object.is_object() && object.contains(at) && object.at(at).is_string() ? object.at(at).get<std::string>() : "";
}

// Numbers are strings in this JSON, and absent when 0.
int64_t Number(const Json& object, const std::string& path) {
  int64_t value = 0;
  return absl::SimpleAtoi(Text(object, path), &value) ? value : 0;
}

const Json& Items(const Json& object, const char* name) {
  static const Json none = Json::array();
  return object.is_object() && object.contains(name) && object.at(name).is_array() ? object.at(name) : none;
}

// "chttp2 ipv4:127.0.0.1:4711", "chttp2 ipv6:%5B::1%5D:4711".
std::string ClientOf(const Json& socket) {
  const std::string name = Text(socket, "/name");
  for (const std::string kind : {"ipv4:", "ipv6:"}) {
    const size_t at = name.find(kind);
    if (at != std::string::npos) return absl::StrReplaceAll(name.substr(at + kind.size()), {{"%5B", "["}, {"%5D", "]"}});
  }
  return name;
}

}  // namespace

void UnansweredStreams::List() {
  constexpr size_t kPage = 500;
  sockets_.clear();
  const Json servers = Read(grpc_channelz_get_servers(0));
  for (const Json& server : Items(servers, "server")) {
    const int64_t number = Number(server, "/ref/serverId");
    size_t listed = kPage;
    for (int64_t first = 0; listed == kPage;) {
      const Json page = Read(grpc_channelz_get_server_sockets(number, first, kPage));
      listed = Items(page, "socketRef").size();
      for (const Json& socket : Items(page, "socketRef")) {
        const int64_t id = Number(socket, "/socketId");
        sockets_[ClientOf(socket)] = id;
        first = id + 1;
      }
    }
  }
}

std::optional<int64_t> UnansweredStreams::Of(const std::string& client) {
  for (const bool listed : {false, true}) {
    if (listed) List();
    const auto found = sockets_.find(client);
    if (found == sockets_.end()) continue;
    const Json socket = Read(grpc_channelz_get_socket(found->second));
    if (socket.is_object()) return Number(socket, "/socket/data/streamsStarted") - Number(socket, "/socket/data/streamsSucceeded");
  }
  return std::nullopt;
}

}  // namespace eipc::rpc
