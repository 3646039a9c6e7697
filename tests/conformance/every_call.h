#ifndef EIPC_TESTS_CONFORMANCE_EVERY_CALL_H_
#define EIPC_TESTS_CONFORMANCE_EVERY_CALL_H_

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <set>
#include <string>

namespace eipc::testing {

// The calls of the service by its descriptor.
std::set<std::string> CallsOfTheService();

// Makes every call of the service at least once, with requests that succeed, and deletes what it made. Statuses by name of the
// call: the first one that is not OK, or OK.
std::map<std::string, grpc::Status> MakeEveryCall(const std::shared_ptr<grpc::Channel>& channel);

}  // namespace eipc::testing

#endif  // EIPC_TESTS_CONFORMANCE_EVERY_CALL_H_
