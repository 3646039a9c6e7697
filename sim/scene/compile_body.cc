#include "sim/scene/compile_body.h"

#include "sim/scene/body_kinds.h"

namespace eipc {

CompiledBody CompileBody(const BodySpec& spec, const std::string& path, Problems* problems) {
  CompiledBody out;
  RowOf(spec.kind).compile(spec, path, &out, problems);
  return out;
}

}  // namespace eipc
