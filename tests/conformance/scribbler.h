#ifndef EIPC_TESTS_CONFORMANCE_SCRIBBLER_H_
#define EIPC_TESTS_CONFORMANCE_SCRIBBLER_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace eipc::testing {

// Fills messages with invalid values of every kind. `names`: words that mean something to the server.
class Scribbler {
 public:
  using Engine = std::mt19937_64;
  Scribbler(Engine* random, const std::vector<std::string>* names) : random_(*random), names_(*names) {}

  void Fill(google::protobuf::Message* message, int depth = 0);
  // Goes down a few levels of what is set, and fills what it finds there.
  void MutateOneField(google::protobuf::Message* message);
  // Bytes that are `message`, or once were: flipped, cut, extended, nested too deeply, with text that is not UTF-8.
  std::string Bytes(const google::protobuf::Message& message);

 private:
  bool Chance(int n) { return random_() % n == 0; }
  double Number();
  int64_t Integer();
  std::string Text();
  std::string Utf8();
  void Set(google::protobuf::Message* message, const google::protobuf::FieldDescriptor* field, int depth);

  Engine& random_;
  const std::vector<std::string>& names_;
};

}  // namespace eipc::testing

#endif  // EIPC_TESTS_CONFORMANCE_SCRIBBLER_H_
