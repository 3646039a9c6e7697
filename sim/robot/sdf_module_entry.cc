// The module eipc-sdf.so, see sdf_module.h.
#include "sim/robot/read_sdf.h"
#include "sim/robot/sdf_module.h"

extern "C" {
extern const eipc::ParseSdfEntry EipcParseSdf;
const eipc::ParseSdfEntry EipcParseSdf = &eipc::ParseSdf;
}
