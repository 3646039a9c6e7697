#include "sim/scene/compile_body.h"

#include <utility>

#include "sim/scene/body_kinds.h"

namespace eipc {

CompiledBody CompileBody(const BodySpec& spec, const std::string& path, Problems* problems,
                         std::shared_ptr<const CondensedStiffness> condensed, Interrupt* interrupt) {
  CompiledBody out;
  out.interrupt = interrupt;
  out.elastic.condensed = std::move(condensed);
  RowOf(spec.kind).compile(spec, path, &out, problems);
  out.interrupt = nullptr;  // which the result may outlive
  return out;
}

}  // namespace eipc
