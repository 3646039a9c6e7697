#include "server/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

namespace eipc {
namespace {

spdlog::level::level_enum ToSpdlog(rpc::Event::Level level) {
  switch (level) {
    case rpc::Event::Level::kDebug:
      return spdlog::level::debug;
    case rpc::Event::Level::kInfo:
      return spdlog::level::info;
    case rpc::Event::Level::kWarning:
      return spdlog::level::warn;
    case rpc::Event::Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

rpc::EventSink JsonLog(const std::string& level) {
  auto logger = spdlog::stderr_logger_mt("eipc-server");
  logger->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})", spdlog::pattern_time_type::utc);
  logger->set_level(spdlog::level::from_str(level));
  return [logger](const rpc::Event& event) {
    const spdlog::level::level_enum urgency = ToSpdlog(event.level);
    if (!logger->should_log(urgency)) return;
    nlohmann::ordered_json fields;
    fields["event"] = event.name;
    for (const auto& [name, value] : event.fields) fields[name] = value;
    // What is not UTF-8 is replaced: a log is always JSON.
    const std::string text = fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    logger->log(urgency, text.substr(1, text.size() - 2));
  };
}

}  // namespace eipc
