// What the programs parse beside the headers of the libraries.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmake/precompiled/library.h"
