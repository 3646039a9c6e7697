#include "tools/python_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kCommands[] = {"bench", "compare", "diff", "evaluate", "export", "learn", "record", "replay", "view"};

// Whether a folder holds an episode of a recorder.
bool HoldsEpisodes(const fs::path& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (absl::StartsWith(name, "episode_") && absl::EndsWith(name, ".npz")) return true;
  }
  return false;
}

// Whether this is the folder of an evaluation, its report, a recorded episode, or a folder of such: what Python verifies.
bool IsOfPython(const fs::path& path) {
  std::error_code error;
  return path.filename() == "report.json" || path.extension() == ".npz" || fs::exists(path / "plan.json", error) ||
         HoldsEpisodes(path);
}

bool IsPythonCommand(int argc, char** argv) {
  if (argc < 2) return false;
  const absl::string_view command = argv[1];
  if (std::find(std::begin(kCommands), std::end(kCommands), command) != std::end(kCommands)) return true;
  return command == "verify" && std::any_of(argv + 2, argv + argc, IsOfPython);
}

// Where the package lies that belongs to this program: in a wheel around it, in a build tree beside its sources; empty: where
// Python finds it by itself.
std::string PackageRoot() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* up : {"../..", "../../../client/python"}) {
    const fs::path root = (program / up).lexically_normal();
    if (fs::exists(root / "eipc" / "cli" / "__main__.py", error)) return root.string();
  }
  return "";
}

}  // namespace

std::optional<int> BecomePythonCommand(int argc, char** argv) {
  if (!IsPythonCommand(argc, argv)) return std::nullopt;
  const char* python = std::getenv("EIPC_PYTHON");
  if (python == nullptr || *python == '\0') python = "/usr/bin/python3";
  const std::string root = PackageRoot();
  std::error_code error;
  setenv("EIPC_CLI", fs::read_symlink("/proc/self/exe", error).c_str(), 0);  // what those commands run that are not in Python
  if (!root.empty()) {
    const char* before = std::getenv("PYTHONPATH");
    const std::string path = before == nullptr || *before == '\0' ? root : root + ":" + before;
    setenv("PYTHONPATH", path.c_str(), 1);
  }
  std::vector<std::string> words = {python, "-m", "eipc.cli"};
  words.insert(words.end(), argv + 1, argv + argc);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(python, arguments.data());
  std::fprintf(stderr, "eipc %s: %s cannot be run (%s); install python3, or name another with EIPC_PYTHON\n", argv[1], python,
               std::strerror(errno));
  return 2;
}

}  // namespace eipc
