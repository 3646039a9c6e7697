import { spawn, type ChildProcessByStdio } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { after, before, test } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launch, scratchFolder, SKIP as NO_CHROMIUM, VIEWER } from "./browser.js";

const SERVER = process.env["EIPC_SERVER"] ?? join(VIEWER, "../build/release/bin/eipc-server");
export const SKIP: string | false = NO_CHROMIUM !== false ? NO_CHROMIUM : existsSync(SERVER) ? false : `there is no ${SERVER} (./dev build)`;

type Said = Record<string, string | number | boolean>;

// A server of tests/live_server.py.
export class LiveServer {
  private readonly lines: AsyncIterator<string>;
  url = "";
  session = "";

  private constructor(private readonly process: ChildProcessByStdio<Writable, Readable, null>) {
    this.lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  }

  // token: that of an operator, which the server asks for. scene: of plates on guides, or of the demo, in place of the small one.
  static async start(folder: string, worlds = 1, token?: string, scene?: "slides" | "teddy"): Promise<LiveServer> {
    const child = spawn("/usr/bin/python3", [join(VIEWER, "tests/live_server.py"), folder, String(worlds), token ?? "", ...(scene ? [scene] : [])],
      { env: { ...process.env, EIPC_SERVER: SERVER, PYTHONDONTWRITEBYTECODE: "1" }, stdio: ["pipe", "pipe", "inherit"] });
    const server = new LiveServer(child);
    const { url, session } = await server.hear();
    server.url = String(url);
    server.session = String(session);
    return server;
  }

  async ask(line: string): Promise<Said> {
    this.process.stdin.write(`${line}\n`);
    return this.hear();
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => { this.process.once("exit", resolve); });
    this.process.stdin.end();
    await ended;
  }

  get sessionUrl(): string {
    return `${this.url}?session=${encodeURIComponent(this.session)}`;
  }

  private async hear(): Promise<Said> {
    const line = await this.lines.next();
    if (line.done) throw new Error("the server of the test ended");
    return JSON.parse(line.value) as Said;
  }
}

export const drawn = (page: Page): Promise<unknown> => page.waitForFunction(() => (globalThis.eipcViewer?.picture.stage.drawn ?? 0) > 0);

const HANGS_MS = 240_000; // no test waits for a time to pass: this only ends one that hangs

// What the tests of one file share: a browser, a server, and a folder.
export class LiveTests {
  private started: Browser | null = null;
  private running: LiveServer | null = null;
  private readonly scratch = SKIP === false ? scratchFolder() : null;

  constructor() {
    before(async () => {
      if (SKIP !== false) return;
      this.started = await launch();
      this.running = await LiveServer.start(this.path("state"));
    });
    after(async () => {
      await this.started?.close();
      await this.running?.stop();
      this.scratch?.remove();
    });
  }

  // While a test runs.
  get browser(): Browser {
    return this.started!;
  }
  get server(): LiveServer {
    return this.running!;
  }
  readonly path = (name: string): string => join(this.scratch?.path ?? "", name);
  readonly check = (name: string, body: () => Promise<void>): void => {
    test(name, { skip: SKIP }, async () => {
      try {
        await body();
      } finally {
        for (const context of this.browser.contexts()) await context.close();
      }
    });
  };
}

// A page of the server. `problems`: errors of the page, and requests to anybody else.
export async function openLive(browser: Browser, url: string, touch = false, options: BrowserContextOptions = {}): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1000, height: 700 }, acceptDownloads: true, hasTouch: touch, ...options });
  context.setDefaultTimeout(HANGS_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
  page.on("request", (request) => {
    if (new URL(request.url()).host !== new URL(url).host && !request.url().startsWith("blob:")) problems.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return { page, problems };
}
