// Prints what @mcap/core finds in a file, protobuf messages decoded with the schemas of the file itself, as JSON:
//   node mcap.mjs FILE

import { readFileSync } from "node:fs";
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import protobuf from "protobufjs";
import "protobufjs/ext/descriptor/index.js";

const bytes = new Uint8Array(readFileSync(process.argv[2]));
const readable = {
  size: async () => BigInt(bytes.length),
  read: async (offset, length) => bytes.subarray(Number(offset), Number(offset + length)),
};
const number = (_, value) => (typeof value === "bigint" ? Number(value) : value);

const reader = await McapIndexedReader.Initialize({ readable });
const types = new Map();
for (const schema of reader.schemasById.values()) {
  if (schema.encoding !== "protobuf") continue;
  const root = protobuf.Root.fromDescriptor(schema.data);
  types.set(schema.id, root.lookupType(schema.name));
}
const messages = [];
for await (const message of reader.readMessages()) {
  const channel = reader.channelsById.get(message.channelId);
  const type = types.get(channel.schemaId);
  const value = type === undefined ? JSON.parse(new TextDecoder().decode(message.data))
    : type.toObject(type.decode(message.data), { longs: Number, bytes: String });
  messages.push({ topic: channel.topic, time: message.logTime, sequence: message.sequence, value });
}
const metadata = {};
for await (const record of reader.readMetadata()) metadata[record.name] = Object.fromEntries(record.metadata);

// Record by record, with every checksum.
const stream = new McapStreamReader({ validateCrcs: true });
stream.append(bytes);
let streamed = 0;
for (let record = stream.nextRecord(); record !== undefined; record = stream.nextRecord()) if (record.type === "Message") ++streamed;

console.log(JSON.stringify({
  messages, metadata, streamed, done: stream.done(),
  chunks: reader.chunkIndexes.length,
  statistics: reader.statistics,
  channels: Object.fromEntries([...reader.channelsById.values()].map((channel) => [channel.topic, channel.messageEncoding])),
  schemas: Object.fromEntries([...reader.schemasById.values()].map((schema) => [schema.name, schema.encoding])),
}, number));
