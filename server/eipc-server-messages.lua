-- For HAProxy: ends a call whose client announces a gRPC message that is longer than the server takes, before the message is read.
-- gRPC 1.51 assembles a message in memory before it checks its length, so the server itself would refuse it too late.
--
-- `filter lua.grpc-messages BYTES` follows the length prefixes of a request's body, those of every message of a stream. A body is a
-- sequence of messages: one byte of flags, four of length (big-endian), the message itself.

local PREFIX_BYTES = 5
local RESOURCE_EXHAUSTED = 8

local Messages = {}
Messages.id = "grpc-messages"
Messages.flags = filter.FLT_CFG_FL_HTX
Messages.__index = Messages

-- Called on the copy of the class that belongs to the line of the configuration.
function Messages:new()
  -- most: what the server takes. left: bytes still to come of a message whose prefix has been read. begun: the beginning of a
  -- prefix that is not complete.
  return setmetatable({most = self.most, left = 0, begun = ""}, Messages)
end

-- Ends the call: HAProxy 2.6 ignores what http_payload returns, but not that it fails. It answers with status 400, whose headers in the
-- configuration are these variables, or resets the stream when the answer has begun; and writes the text to its log.
local function refuse(txn, length, most)
  local text = string.format("MESSAGE_TOO_LONG: a message of %d bytes is longer than the %d that the server takes; send less at once",
                             length, most)
  txn:set_var("txn.grpc_status", RESOURCE_EXHAUSTED)
  txn:set_var("txn.grpc_message", text)
  error(text, 0)
end

function Messages:start_analyze(txn, channel)
  if not channel:is_resp() then
    filter.register_data_filter(self, channel)
  end
end

-- What has been seen goes on to the server.
function Messages:http_payload(txn, message)
  local size = message:input()
  if size <= self.left then
    self.left = self.left - size
    return
  end
  local bytes = self.begun .. (message:body(self.left, size - self.left) or "")
  local at = 1
  while at + PREFIX_BYTES - 1 <= #bytes do
    local length = string.unpack(">I4", bytes, at + 1)
    if length > self.most then
      refuse(txn, length, self.most)
    end
    at = at + PREFIX_BYTES + length
  end
  self.begun = bytes:sub(at)
  self.left = math.max(0, at - 1 - #bytes)
end

core.register_filter("grpc-messages", Messages, function(class, arguments)
  class.most = assert(math.tointeger(tonumber(arguments[1])), "grpc-messages: the number of bytes is missing")
  return class
end)
