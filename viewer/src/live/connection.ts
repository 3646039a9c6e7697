import { create, fromBinary, toBinary, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { ObservationSchema, type Observation } from "../proto/eipc/v1/observation_pb.js";
import { ViewerMessageSchema, ViewerRequestSchema, ViewerSceneSchema, type ViewerScene, type ViewerWatchSchema } from "../proto/eipc/v1/viewer_pb.js";

// A refusal by the server: `REASON: text`.
export class CallError extends Error {
  override readonly name = "CallError";
  readonly reason: string;
  constructor(readonly code: number, text: string) {
    super(text);
    this.reason = /^([A-Z_]+):/.exec(text)?.[1] ?? "";
  }
}

// The connection ended before the answer came: whether the call was done is not known.
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
  constructor() {
    super("The connection to the server was lost before it answered.");
  }
}

// refused: the server answers, but opens no socket.
export type ConnectionState = "connecting" | "open" | "lost" | "refused" | "signed out";

export interface Frame {
  readonly world: number;
  readonly observation: Observation;
  readonly dropped: number;
}

export interface Watcher {
  readonly onScene: (scene: ViewerScene) => void;
  readonly onFrame: (frame: Frame) => void;
  readonly onError: (error: CallError) => void;
}

interface Open {
  readonly resolve: (response: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 4000;

// The page's WebSocket. When it is lost it is opened again, and what was watched is watched again; calls are not repeated.
export class Connection {
  state: ConnectionState = "connecting";
  onState: () => void = () => undefined;
  bytes = 0; // received
  frames = 0;
  private socket: WebSocket | null = null;
  private next = 1;
  private retryMs = FIRST_RETRY_MS;
  private refusals = 0; // one after the other, of a server that answers
  private readonly open = new Map<number, Open>();
  private readonly watchers = new Map<number, { request: MessageInitShape<typeof ViewerWatchSchema>; watcher: Watcher }>();

  constructor(private readonly url: string, private readonly wait = waitInBrowser) {}

  // as: what is said of it until the socket is open.
  connect(as: "connecting" | "refused" = "connecting"): void {
    this.become(as);
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.addEventListener("open", () => {
      this.retryMs = FIRST_RETRY_MS;
      this.become("open");
      for (const id of this.watchers.keys()) this.sendWatch(id);
    });
    socket.addEventListener("message", (event) => { this.take(new Uint8Array(event.data as ArrayBuffer)); });
    socket.addEventListener("close", () => { void this.lose(socket); });
  }

  close(): void {
    this.watchers.clear();
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  // A unary call of the service, by its name.
  async call<Q extends DescMessage, A extends DescMessage>(method: string, request: Q, values: MessageInitShape<Q>, answer: A): Promise<MessageShape<A>> {
    const bytes = toBinary(request, create(request, values));
    return fromBinary(answer, await this.ask({ case: "call", value: { method, request: bytes } }));
  }

  // Returns what ends it: the watcher hears nothing from then on.
  watch(request: MessageInitShape<typeof ViewerWatchSchema>, watcher: Watcher): () => void {
    const id = this.next++;
    this.watchers.set(id, { request, watcher });
    if (this.state === "open") this.sendWatch(id);
    return () => {
      if (!this.watchers.delete(id) || this.state !== "open") return;
      this.ask({ case: "unwatch", value: id }).catch(() => undefined);
    };
  }

  private sendWatch(id: number): void {
    const { request, watcher } = this.watchers.get(id)!;
    this.ask({ case: "watch", value: request }, id).then(
      (response) => { if (this.watchers.has(id)) watcher.onScene(fromBinary(ViewerSceneSchema, response)); },
      (error: unknown) => { if (error instanceof CallError && this.watchers.delete(id)) watcher.onError(error); },
    );
  }

  private ask(action: MessageInitShape<typeof ViewerRequestSchema>["action"] & object, id = this.next++): Promise<Uint8Array> {
    const socket = this.socket;
    if (!socket || this.state !== "open") return Promise.reject(new ConnectionLost());
    return new Promise((resolve, reject) => {
      this.open.set(id, { resolve, reject });
      socket.send(toBinary(ViewerRequestSchema, create(ViewerRequestSchema, { id, action })));
    });
  }

  private take(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    const { content } = fromBinary(ViewerMessageSchema, bytes);
    if (content.case === "answer") {
      const { id, statusCode, statusMessage, response } = content.value;
      const asked = this.open.get(id);
      this.open.delete(id);
      if (!asked) this.endWatch(id, new CallError(statusCode, statusMessage));
      else if (statusCode === 0) asked.resolve(response);
      else asked.reject(new CallError(statusCode, statusMessage));
    } else if (content.case === "frame") {
      this.frames++;
      const { watch, world, dropped } = content.value;
      const observation = fromBinary(ObservationSchema, content.value.observation);
      this.watchers.get(watch)?.watcher.onFrame({ world, observation, dropped: Number(dropped) });
    }
  }

  // The server ends a watch that had begun, because its session is gone.
  private endWatch(id: number, error: CallError): void {
    const watched = this.watchers.get(id);
    this.watchers.delete(id);
    watched?.watcher.onError(error);
  }

  private async lose(socket: WebSocket): Promise<void> {
    if (this.socket !== socket) return;
    const opened = this.state === "open";
    this.socket = null;
    for (const { reject } of this.open.values()) reject(new ConnectionLost());
    this.open.clear();
    if (this.state !== "refused") this.become("lost");
    await this.wait(this.retryMs);
    this.retryMs = Math.min(2 * this.retryMs, LAST_RETRY_MS);
    const status = await serverStatus().catch(() => null);
    // A server that has just come up opened none before.
    this.refusals = status && !opened ? this.refusals + 1 : 0;
    if (status && !status.signed_in) this.become("signed out");
    else this.connect(this.refusals > 1 ? "refused" : "connecting");
  }

  private become(state: ConnectionState): void {
    this.state = state;
    this.onState();
  }
}

function waitInBrowser(ms: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, ms); });
}

export interface ServerStatus {
  readonly signed_in: boolean;
  readonly needs_token: boolean;
  readonly tenant?: string;
  readonly role?: string;
}

export async function serverStatus(): Promise<ServerStatus> {
  return (await (await fetch("/status")).json()) as ServerStatus;
}

// False: there is no such token.
export async function signIn(token: string): Promise<boolean> {
  return (await fetch("/sign-in", { method: "POST", body: token })).ok;
}
