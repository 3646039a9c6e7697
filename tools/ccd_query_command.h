#ifndef EIPC_TOOLS_CCD_QUERY_COMMAND_H_
#define EIPC_TOOLS_CCD_QUERY_COMMAND_H_

#include <CLI/App.hpp>

namespace eipc {

// Adds `ccd-query FILE... [--kind edge-edge|vertex-face] [--truth FILE.json]`: runs CCD on files of public queries
// (sim/geometry/ccd_queries.h) and prints a line a file and one for all. *exit_status, which must outlive the parsing: 0, 1 after a
// false negative, 2 when a file could not be read.
void AddCcdQueryCommand(CLI::App& app, int* exit_status);

}  // namespace eipc

#endif  // EIPC_TOOLS_CCD_QUERY_COMMAND_H_
