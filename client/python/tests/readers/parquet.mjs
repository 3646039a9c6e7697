// Prints what two readers, hyparquet and parquet-wasm (Rust's parquet, through Arrow), find in a Parquet file, as JSON:
//   node parquet.mjs FILE

import { readFileSync } from "node:fs";
import { tableFromIPC } from "apache-arrow";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { readParquet } from "parquet-wasm/node";

const bytes = readFileSync(process.argv[2]);
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);

function plain(value) {
  if (typeof value === "bigint") return Number(value);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.toArray === "function") return plain(Array.from(value));
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(value, plain);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]));
}

const metadata = parquetMetadata(buffer);
const table = tableFromIPC(readParquet(new Uint8Array(buffer)).intoIPCStream());
const rows = Array.from({ length: table.numRows }, (_, k) =>
  Object.fromEntries(table.schema.fields.map((field) => [field.name, plain(table.getChild(field.name).get(k))])));
console.log(JSON.stringify({
  hyparquet: plain(await parquetReadObjects({ file: buffer })),
  wasm: rows,
  types: Object.fromEntries(table.schema.fields.map((field) => [field.name, String(field.type)])),
  metadata: Object.fromEntries((metadata.key_value_metadata ?? []).map((pair) => [pair.key, pair.value])),
  groups: metadata.row_groups.map((group) => Number(group.num_rows)),
}));
