import { Arrays, FORMAT, MAGIC, RecordingError, type Header } from "./format.js";

// Bytes of base64 text.
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  let binary: string;
  try {
    binary = atob(text.trim());
  } catch {
    throw new RecordingError("The recording in this page is damaged (it is no base64 text). Write the page again.");
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (!("DecompressionStream" in globalThis)) {
    throw new RecordingError("This browser cannot unpack the recording. Use Chrome 80, Firefox 113, Safari 16.4 or a later one.");
  }
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new RecordingError("The recording in this page is damaged or cut short (it cannot be unpacked). Write the page again.");
  }
}

// The header and the arrays of an unpacked recording: magic, u32 length of the header, header in JSON, arrays from a multiple of 8 on.
export function parse(bytes: Uint8Array<ArrayBuffer>): { header: Header; arrays: Arrays } {
  const magic = new TextDecoder("latin1").decode(bytes.subarray(0, MAGIC.length));
  if (magic !== MAGIC || bytes.length < MAGIC.length + 4) {
    throw new RecordingError("This is no recording of eipc. Make one with eipc.viz.write_episode_page.");
  }
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC.length, true);
  const begin = MAGIC.length + 4;
  if (begin + length > bytes.length) throw new RecordingError("The recording is cut short. Write the page again.");
  const header = headerIn(bytes.subarray(begin, begin + length));
  if (header.format !== FORMAT) {
    throw new RecordingError(`The recording has format ${header.format}, this page shows ${FORMAT}. Write the page again with one version.`);
  }
  const data = bytes.subarray(Math.ceil((begin + length) / 8) * 8);
  return { header, arrays: new Arrays(header.arrays, data) };
}

function headerIn(bytes: Uint8Array): Header {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    header = null;
  }
  const { format, facts, bodies, pairs, arrays } = (header ?? {}) as Partial<Record<string, unknown>>;
  const whole = [facts, bodies, pairs].every(Array.isArray) && typeof arrays === "object" && arrays !== null;
  if (typeof format !== "number" || (format === FORMAT && !whole)) {
    throw new RecordingError("The header of the recording is damaged. Write the page again.");
  }
  return header as Header;
}
