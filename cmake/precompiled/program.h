// What the programs parse beside the headers of the libraries.
#include "cmake/precompiled/library.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
