import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Connection, type ConnectionState } from "../../src/live/connection.js";
import { ViewerMessageSchema, ViewerRequestSchema, type ViewerRequest } from "../../src/proto/eipc/v1/viewer_pb.js";

// A socket whose server is the test.
class HandSocket extends EventTarget {
  static made: HandSocket[] = [];
  binaryType = "";
  readonly sent: ViewerRequest[] = [];

  constructor() {
    super();
    HandSocket.made.push(this);
  }
  send(bytes: Uint8Array): void {
    this.sent.push(fromBinary(ViewerRequestSchema, bytes));
  }
  close(): void {
    this.dispatchEvent(new Event("close"));
  }
  open(): void {
    this.dispatchEvent(new Event("open"));
  }
  answer(id: number, statusCode = 0, statusMessage = ""): void {
    const bytes = toBinary(ViewerMessageSchema, create(ViewerMessageSchema, { content: { case: "answer", value: { id, statusCode, statusMessage } } }));
    this.dispatchEvent(Object.assign(new Event("message"), { data: bytes.buffer }));
  }
}

const settled = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

function opened(): { connection: Connection; socket: HandSocket } {
  Object.assign(globalThis, { WebSocket: HandSocket });
  HandSocket.made = [];
  const connection = new Connection("ws://here/socket", () => Promise.resolve());
  connection.connect();
  const socket = HandSocket.made[0]!;
  socket.open();
  return { connection, socket };
}

const REQUEST = { session: "sessions/1" };

test("who has ended a watch hears no more of it, neither its scene nor its refusal", async () => {
  for (const refused of [0, 5]) {
    const { connection, socket } = opened();
    const heard: string[] = [];
    const end = connection.watch(REQUEST, { onScene: () => heard.push("scene"), onFrame: () => heard.push("frame"), onError: () => heard.push("error") });
    end();
    socket.answer(socket.sent[0]!.id, refused, refused === 0 ? "" : "SESSION_NOT_FOUND: gone");
    await settled();
    assert.deepEqual(heard, []);
    assert.deepEqual(socket.sent.map(({ action }) => action.case), ["watch", "unwatch"]);
  }
});

test("who still watches hears of a refusal, once", async () => {
  const { connection, socket } = opened();
  const heard: string[] = [];
  connection.watch(REQUEST, { onScene: () => heard.push("scene"), onFrame: () => undefined, onError: ({ reason }) => heard.push(reason) });
  socket.answer(socket.sent[0]!.id, 5, "SESSION_NOT_FOUND: gone");
  await settled();
  assert.deepEqual(heard, ["SESSION_NOT_FOUND"]);
});

test("a watch that had begun ends with words when its session is deleted", async () => {
  const { connection, socket } = opened();
  const heard: string[] = [];
  const end = connection.watch(REQUEST, { onScene: () => heard.push("scene"), onFrame: () => undefined, onError: ({ reason }) => heard.push(reason) });
  socket.answer(socket.sent[0]!.id);
  await settled();
  socket.answer(socket.sent[0]!.id, 5, "SESSION_NOT_FOUND: deleted");
  end();
  await settled();
  assert.deepEqual(heard, ["scene", "SESSION_NOT_FOUND"]);
  assert.deepEqual(socket.sent.map(({ action }) => action.case), ["watch"], "what has ended is not ended again");
});

test("a server that answers and takes no page is distinguished from one that does not answer", async () => {
  const { connection, socket } = opened();
  const states: ConnectionState[] = [];
  connection.onState = () => { states.push(connection.state); };
  let answers = false;
  Object.assign(globalThis, { fetch: () => (answers ? Promise.resolve(new Response('{"signed_in": true}')) : Promise.reject(new Error("down"))) });
  // The last socket made is refused, and the next one is asked for.
  const refuse = async (): Promise<void> => {
    HandSocket.made.at(-1)!.close();
    for (let i = 0; i < 5; i++) await settled();
  };
  await refuse();
  assert.equal(HandSocket.made.length, 2);
  assert.ok(!states.includes("refused"));
  answers = true;
  await refuse(); // it may have come up just now
  assert.equal(connection.state, "connecting");
  await refuse();
  assert.equal(connection.state, "refused");
  states.length = 0;
  await refuse();
  assert.deepEqual(new Set(states), new Set(["refused"]), "the words stay while it tries");
  HandSocket.made.at(-1)!.open();
  assert.equal(connection.state, "open");
  assert.notEqual(HandSocket.made.at(-1), socket);
});
