#include "tools/python_command.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;

// Whether this is the folder of an evaluation, or its report.
bool IsEvaluation(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / "plan.json", error) || path.filename() == "report.json";
}

bool IsPythonCommand(int argc, char** argv) {
  if (argc < 2) return false;
  const absl::string_view command = argv[1];
  if (command == "evaluate" || command == "compare") return true;
  if (command != "verify") return false;
  for (int i = 2; i < argc; ++i) {
    if (IsEvaluation(argv[i])) return true;
  }
  return false;
}

// Where the package lies that belongs to this program: in a wheel around it, in a build tree beside its sources; empty: where
// Python finds it by itself.
std::string PackageRoot() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* up : {"../..", "../../../client/python"}) {
    const fs::path root = (program / up).lexically_normal();
    if (fs::exists(root / "eipc" / "farm" / "cli.py", error)) return root.string();
  }
  return "";
}

}  // namespace

std::optional<int> BecomePythonCommand(int argc, char** argv) {
  if (!IsPythonCommand(argc, argv)) return std::nullopt;
  const char* python = std::getenv("EIPC_PYTHON");
  if (python == nullptr || *python == '\0') python = "/usr/bin/python3";
  const std::string root = PackageRoot();
  if (!root.empty()) {
    const char* before = std::getenv("PYTHONPATH");
    const std::string path = before == nullptr || *before == '\0' ? root : root + ":" + before;
    setenv("PYTHONPATH", path.c_str(), 1);
  }
  std::vector<std::string> words = {python, "-m", "eipc.farm.cli"};
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
