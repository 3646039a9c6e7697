#ifndef EIPC_TESTS_VALIDATE_KRYLOV_RUNS_H_
#define EIPC_TESTS_VALIDATE_KRYLOV_RUNS_H_

#include <nlohmann/json.hpp>

namespace eipc {

// Conjugate gradients on the matrix of a Newton iteration at rest, by preconditioner:
//   {"problem": {"kind": "krylov", "size": [0.1, 0.1, 0.1], "cells": [8, 8, 8], "youngs_modulus_pa": 1e5, "held": true,
//    "tolerance": 1e-6, "omegas": [1, 1.4]}, "h": 0.01}
// size in m; held: the end of the largest z; tolerance: of the error, in the energy norm. Result: {"unknowns", "diagonal", "block",
// "incomplete_cholesky", "ssor": one for each omega}, each with "iterations" and processor time, "prepare_ms" of the preconditioner
// and "ms" with the solution.
nlohmann::json RunKrylov(const nlohmann::json& request);

}  // namespace eipc

#endif  // EIPC_TESTS_VALIDATE_KRYLOV_RUNS_H_
