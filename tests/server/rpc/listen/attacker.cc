#include "tests/server/rpc/listen/attacker.h"

#include <gtest/gtest.h>

#include <iterator>
#include <thread>
#include <utility>

#include "eipc/v1/service.pb.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::testing {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::MethodDescriptor;
using grpc::StatusCode;
using std::chrono::microseconds;

// For calls that are answered.
constexpr std::chrono::minutes kLong{1};

const google::protobuf::ServiceDescriptor& Service() {
  return *DescriptorPool::generated_pool()->FindServiceByName("eipc.v1.SimulationService");
}

std::string Path(const MethodDescriptor& method) { return "/" + method.service()->full_name() + "/" + method.name(); }

std::unique_ptr<Message> New(const google::protobuf::Descriptor* type) {
  return std::unique_ptr<Message>(MessageFactory::generated_factory()->GetPrototype(type)->New());
}

std::string NameOf(const Message& message) {
  const auto* field = message.GetDescriptor()->FindFieldByName("name");
  return field == nullptr ? "" : message.GetReflection()->GetString(message, field);
}

}  // namespace

void Tally::Add(const Tally& other) {
  for (const auto& [name, count] : other.calls) calls[name] += count;
  for (const auto& [name, count] : other.well_formed) well_formed[name] += count;
  for (const auto& [code, count] : other.codes) codes[code] += count;
  raw_connections += other.raw_connections;
}

std::shared_ptr<grpc::Channel> NewChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

Asked Ask(grpc::GenericStub* stub, const std::string& method, const std::function<void(Message*)>& fill) {
  const MethodDescriptor& descriptor = *Service().FindMethodByName(method);
  const std::unique_ptr<Message> request = New(descriptor.input_type());
  if (fill) fill(request.get());
  WireCall call(stub, Path(descriptor), kLong);
  std::string bytes;
  Asked asked;
  if (call.Send(request->SerializeAsString()) && call.CloseSending() && call.Receive(&bytes)) {
    asked.answer = New(descriptor.output_type());
    if (!asked.answer->ParseFromString(bytes)) asked.answer = nullptr;
  }
  asked.status = call.Finish();
  return asked;
}

std::vector<grpc::Status> DeleteEach(grpc::GenericStub* stub, const std::string& list, const std::string& remove) {
  const Asked listed = Ask(stub, list, [](Message* request) {
    request->GetReflection()->SetInt32(request, request->GetDescriptor()->FindFieldByName("page_size"), 1000);
  });
  if (listed.answer == nullptr) return {listed.status};
  const auto& reflection = *listed.answer->GetReflection();
  const auto* items = listed.answer->GetDescriptor()->field(0);
  std::vector<grpc::Status> failures;
  for (int i = 0; i < reflection.FieldSize(*listed.answer, items); ++i) {
    const std::string name = NameOf(reflection.GetRepeatedMessage(*listed.answer, items, i));
    const Asked removed = Ask(stub, remove, [&name](Message* request) {
      request->GetReflection()->SetString(request, request->GetDescriptor()->field(0), name);
    });
    if (!removed.status.ok()) failures.push_back(removed.status);
  }
  return failures;
}

Attacker::Attacker(std::string address, uint64_t seed)
    : address_(std::move(address)), stub_(NewChannel(address_)), known_answers_(NewChannel(address_)), random_(seed) {
  for (int i = 0; i < Service().method_count(); ++i) methods_.push_back(Service().method(i));
}

void Attacker::Run(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (i % 50 == 0) Furnish();
    Shoot(*methods_[i % methods_.size()]);
    if (i % 20 == 0) WrongPath();
    if (i % 10 == 0) Spoil();
  }
}

// A sound scene with a session, so that later calls find something to act on; now and then all sessions go.
void Attacker::Furnish() {
  if (Chance(8)) DeleteEach(&stub_, "ListSessions", "DeleteSession");
  const Asked scene = Ask(&stub_, "CreateScene", [this](Message* request) {
    *static_cast<v1::CreateSceneRequest*>(request)->mutable_scene() = Chance(2) ? BlockOnTable() : DrivenBlock();
  });
  if (scene.answer == nullptr) return;
  Harvest(*scene.answer);
  const Asked session = Ask(&stub_, "CreateSession", [&](Message* request) {
    auto& create = *static_cast<v1::CreateSessionRequest*>(request);
    create.set_scene(NameOf(*scene.answer));
    create.set_record(Chance(2));
  });
  if (session.answer != nullptr) Harvest(*session.answer);
}

microseconds Attacker::Deadline() {
  if (Chance(10)) return microseconds(0);
  if (Chance(5)) return microseconds(random_() % 3000);
  return std::chrono::milliseconds(200);
}

void Attacker::Shoot(const Method& method) {
  ++tally_.calls[method.name()];
  WireCall call(&stub_, Path(method), Deadline(), Metadata());
  // Of a unary call one message is right; none, or more, is as wrong as what is in them.
  const int messages = method.client_streaming() ? static_cast<int>(random_() % 4)
                       : Chance(12)              ? static_cast<int>(random_() % 3)
                                                 : 1;
  const bool bidirectional = method.client_streaming() && method.server_streaming();
  std::string answer;
  for (int k = 0; k < messages; ++k) {
    if (!call.Send(Bytes(method)) || (bidirectional && Chance(2) && !call.Receive(&answer))) break;
  }
  if (Chance(10)) return;  // leaves in the middle
  for (uint64_t pause = Chance(10) ? random_() % 1000 : 0; pause > 0; --pause) std::this_thread::yield();
  if (Chance(10)) call.Cancel();
  call.CloseSending();
  while (call.Receive(&answer)) Read(method, answer);
  Note(method.name(), call.Finish());
}

std::multimap<std::string, std::string> Attacker::Metadata() {
  if (!Chance(10)) return {};
  std::string value(random_() % 60, ' ');
  for (char& c : value) c = static_cast<char>(' ' + random_() % 95);
  static const char* const kKeys[] = {"authorization", "traceparent", "x-request-id", "grpc-accept-encoding", "x-eipc-user"};
  return {{kKeys[random_() % std::size(kKeys)], value}};
}

std::string Attacker::Bytes(const Method& method) {
  // At times the message of another method.
  const Method& of = Chance(16) ? *methods_[random_() % methods_.size()] : method;
  const std::unique_ptr<Message> message = New(of.input_type());
  Scribbler scribbler(&random_, &names_);
  if (auto* scene = dynamic_cast<v1::CreateSceneRequest*>(message.get()); scene != nullptr && !Chance(8)) {
    *scene->mutable_scene() = Chance(2) ? BlockOnTable() : DrivenBlock();
    if (!Chance(4)) scribbler.MutateOneField(scene->mutable_scene());
    scene->set_validate_only(!Chance(4));
  } else {
    scribbler.Fill(message.get());
  }
  const std::string bytes = scribbler.Bytes(*message);
  if (&of == &method && message->ParseFromString(bytes)) ++tally_.well_formed[method.name()];
  return bytes;
}

void Attacker::Read(const Method& method, const std::string& bytes) {
  const std::unique_ptr<Message> message = New(method.output_type());
  EXPECT_TRUE(message->ParseFromString(bytes)) << method.name() << " was answered with bytes that are not its response";
  Harvest(*message);
}

// Names that later calls can use.
void Attacker::Harvest(const Message& message) {
  const std::string name = NameOf(message);
  if (name.empty()) return;
  if (names_.size() < 30) {
    names_.push_back(name);
  } else {
    names_[5 + random_() % 25] = name;
  }
}

void Attacker::Note(const std::string& method, const grpc::Status& status) {
  ++tally_.codes[status.error_code()];
  // A fault of the caller is never called a fault of the server. (A connection may be cut off for it.)
  for (const StatusCode code : {StatusCode::INTERNAL, StatusCode::UNKNOWN, StatusCode::DATA_LOSS}) {
    EXPECT_NE(status.error_code(), code) << method << ": " << status.error_message();
  }
}

void Attacker::WrongPath() {
  static const char* const kPaths[] = {
      "/eipc.v1.SimulationService/Nothing", "/eipc.v1.SimulationService/",    "/", "/x", "/eipc.v2.SimulationService/Step", "//",
      "/grpc.health.v1.Health/Nothing",     "/eipc.v1.SimulationService/step"};
  const std::string path = kPaths[random_() % std::size(kPaths)];
  WireCall call(&known_answers_, path, kLong);
  call.Send(std::string(random_() % 100, 'x'));
  call.CloseSending();
  const grpc::Status status = call.Finish();
  ++tally_.codes[status.error_code()];
  EXPECT_EQ(status.error_code(), StatusCode::UNIMPLEMENTED) << path << ": " << status.error_message();
}

// What a connection of its own sends.
std::string Attacker::Spoiled(const Method& method) {
  const std::string begin = Preface() + Frame(1, 4, 1, Headers(CallFields(Path(method))));
  const std::string message = Bytes(method);
  const auto size = static_cast<uint32_t>(message.size());
  std::string bytes;
  switch (random_() % 8) {
    case 0:  // no HTTP/2
      bytes = std::string(random_() % 3000, static_cast<char>(random_()));
      break;
    case 1:  // a beginning, then noise
      bytes = Preface() + message;
      break;
    case 2:  // a message that claims 4 GiB
      bytes = begin + Frame(0, 0, 1, MessageFrame(false, 0xffffffff, message.substr(0, 16000)));
      break;
    case 3:  // compressed, though nobody said how
      bytes = begin + Frame(0, 1, 1, MessageFrame(true, size, message.substr(0, 16000)));
      break;
    case 4:  // a call whose client vanishes before, or while it is answered
      bytes = begin + (size < 16000 ? Frame(0, Chance(2) ? 1 : 0, 1, MessageFrame(false, size, message)) : "");
      break;
    case 5:  // frames that are no part of any call
      bytes = begin + Frame(static_cast<uint8_t>(random_()), static_cast<uint8_t>(random_()), static_cast<uint32_t>(random_()),
                            message.substr(0, 1000));
      break;
    case 6:  // no headers of a call
      bytes = Preface() + Frame(1, 5, 1, Headers({{"content-type", message.substr(0, 60)}}));
      break;
    default: {  // a time limit that is none
      auto fields = CallFields(Path(method));
      fields.emplace("grpc-timeout", Chance(2) ? "99999999999S" : "-1m");
      bytes = Preface() + Frame(1, 4, 1, Headers(fields));
    }
  }
  return bytes;
}

void Attacker::Spoil() {
  std::string bytes = Spoiled(*methods_[random_() % methods_.size()]);
  if (Chance(3)) bytes.resize(random_() % (bytes.size() + 1));
  ++tally_.raw_connections;
  EXPECT_TRUE(SendRaw(address_, bytes, Chance(2) ? Leave::kReset : Leave::kClose));
}

}  // namespace eipc::testing
