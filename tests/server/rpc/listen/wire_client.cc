#include "tests/server/rpc/listen/wire_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <vector>

namespace eipc::testing {
namespace {

grpc::ByteBuffer Buffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

// A socket that is connected to HOST:PORT; -1 when nobody listens.
int Connect(const std::string& address) {
  const size_t colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.substr(colon + 1).c_str())));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(file, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) return file;
  close(file);
  return -1;
}

void SendAll(int file, const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = send(file, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;
    sent += static_cast<size_t>(n);
  }
}

}  // namespace

WireCall::WireCall(grpc::GenericStub* stub, const std::string& path, std::chrono::microseconds deadline,
                   const std::multimap<std::string, std::string>& metadata) {
  context_.set_deadline(std::chrono::system_clock::now() + deadline);
  for (const auto& [key, value] : metadata) context_.AddMetadata(key, value);
  call_ = stub->PrepareCall(&context_, path, &queue_);
  call_->StartCall(this);
  Await();
}

WireCall::~WireCall() {
  if (!finished_) {
    Cancel();
    Finish();
  }
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

bool WireCall::Await() {
  void* tag = nullptr;
  bool ok = false;
  return queue_.Next(&tag, &ok) && ok;
}

bool WireCall::Send(const std::string& message) {
  call_->Write(Buffer(message), this);
  return Await();
}

bool WireCall::CloseSending() {
  call_->WritesDone(this);
  return Await();
}

bool WireCall::Receive(std::string* message) {
  grpc::ByteBuffer buffer;
  call_->Read(&buffer, this);
  if (!Await()) return false;
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return false;
  message->clear();
  for (const grpc::Slice& slice : slices) message->append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return true;
}

grpc::Status WireCall::Finish() {
  finished_ = true;
  grpc::Status status;
  call_->Finish(&status, this);
  Await();
  return status;
}

bool SendRaw(const std::string& address, const std::string& bytes, Leave leave) {
  const int file = Connect(address);
  if (file < 0) return false;
  SendAll(file, bytes);
  if (leave == Leave::kReset) {
    const linger now{1, 0};
    setsockopt(file, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  }
  close(file);
  return true;
}

std::string Preface() { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, 0, 0, ""); }

std::string Frame(uint8_t kind, uint8_t flags, uint32_t stream, const std::string& payload) {
  const auto size = static_cast<uint32_t>(payload.size());
  std::string frame;
  for (const uint32_t byte :
       {size >> 16, size >> 8, size, uint32_t{kind}, uint32_t{flags}, stream >> 24, stream >> 16, stream >> 8, stream}) {
    frame += static_cast<char>(byte & 0xff);
  }
  return frame + payload;
}

std::string Headers(const std::multimap<std::string, std::string>& fields) {
  std::string block;
  for (const auto& [name, value] : fields) {
    block += '\0';
    for (const std::string& word : {name, value}) block += static_cast<char>(word.size() & 0x7f) + word.substr(0, 0x7e);
  }
  return block;
}

std::multimap<std::string, std::string> CallFields(const std::string& path) {
  return {
      {":method", "POST"}, {":scheme", "http"}, {":path", path}, {":authority", "localhost"}, {"content-type", "application/grpc"},
      {"te", "trailers"}};
}

std::string MessageFrame(bool compressed, uint32_t claimed, const std::string& bytes) {
  std::string frame(1, compressed ? '\1' : '\0');
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>(claimed >> shift & 0xff);
  return frame + bytes;
}

std::map<std::string, double> Gauges(const std::string& address) {
  const int file = Connect(address);
  if (file < 0) return {};
  SendAll(file, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = recv(file, buffer, sizeof(buffer), 0)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(file);
  std::map<std::string, double> gauges;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    if (line.empty() || line[0] == '#' || space == std::string::npos || line.find('{') != std::string::npos) continue;
    gauges[line.substr(0, space)] = std::atof(line.c_str() + space);
  }
  return gauges;
}

int FreePort() {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool bound = bind(file, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                     getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(file);
  return bound ? ntohs(address.sin_port) : -1;
}

}  // namespace eipc::testing
