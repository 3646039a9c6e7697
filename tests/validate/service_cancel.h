#ifndef EIPC_TESTS_VALIDATE_SERVICE_CANCEL_H_
#define EIPC_TESTS_VALIDATE_SERVICE_CANCEL_H_

#include <string>

namespace eipc::load {

// Steps a scene from its start, ends the request at a random moment of the first `window_ms`, `count` times by cancelling a stream
// and `count` times by a deadline, and measures how long the session is not to be had after that. Prints one JSON object.
int Cancel(const std::string& server, const std::string& scene_file, int count, int seed, double window_ms);

// Creates a scene whose compilation searches for an equilibrium, `count` times with a deadline at a random moment of the search,
// and measures how long the server's only place to compile (--job-slots=1) is not to be had after that. Prints one JSON object.
int EndSearch(const std::string& server, const std::string& scene_file, int count, int seed);

}  // namespace eipc::load

#endif  // EIPC_TESTS_VALIDATE_SERVICE_CANCEL_H_
