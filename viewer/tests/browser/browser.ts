import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import type { App } from "../../src/app.js";

declare global {
  var eipcViewer: App | undefined;
}

export const VIEWER = process.env["EIPC_VIEWER"] ?? process.cwd();
const FLAGS = ["--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic",
               "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

function findChromium(): string | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const places = [process.env["CHROMIUM"], ...folders.map((folder) => join(folder, "chromium"))];
  return places.find((place): place is string => place !== undefined && place !== "" && existsSync(place)) ?? null;
}

export const CHROMIUM = findChromium();
// For the option `skip` of tests.
export const SKIP: string | false = CHROMIUM ? false : "Chromium is not installed (./dev setup viewer), or name it in CHROMIUM";

export async function launch(extra: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM!, args: [...FLAGS, ...extra] });
}

export function scratchFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "eipc-viewer-"));
  mkdirSync(path, { recursive: true });
  return { path, remove: () => { rmSync(path, { recursive: true, force: true }); } };
}

// Writes the page of tests/made_recording.py with the Python client.
export function makePage(path: string, ...options: string[]): void {
  execFileSync("/usr/bin/python3", [join(VIEWER, "tests/made_recording.py"), path, ...options], { stdio: ["ignore", "inherit", "inherit"] });
}

// No test waits for a time to pass: this only ends one that hangs.
const HANGS_MS = 240_000;
const contexts: BrowserContext[] = [];

// Closes the pages that a test opened.
export async function closePages(): Promise<void> {
  for (const context of contexts.splice(0)) await context.close();
}

// What the tests of one file share: a browser, and a folder of pages that `write` fills before the first test.
export class PageTests {
  private started: Browser | null = null;
  private readonly scratch = SKIP === false ? scratchFolder() : null;

  constructor(write: (path: (name: string) => string) => void) {
    before(async () => {
      if (SKIP !== false) return;
      write(this.path);
      this.started = await launch();
    });
    after(async () => {
      await this.started?.close();
      this.scratch?.remove();
    });
  }

  // While a test runs.
  get browser(): Browser {
    return this.started!;
  }
  readonly path = (name: string): string => join(this.scratch?.path ?? "", name);
  readonly check = (name: string, body: () => Promise<void>): void => { test(name, { skip: SKIP }, () => body().finally(closePages)); };
}

export interface Opened {
  readonly page: Page;
  readonly problems: string[]; // errors of the page and what it tried to fetch
}

// Opens a page in a context of its own and waits for its picture, or for its error.
export async function open(browser: Browser, path: string, fragment = "", options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1000, height: 640 }, acceptDownloads: true, ...options });
  context.setDefaultTimeout(HANGS_MS);
  contexts.push(context);
  const page = await context.newPage();
  const problems: string[] = [];
  const own = pathToFileURL(path).href;
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== own && !request.url().startsWith("blob:")) problems.push(`request: ${request.url()}`);
  });
  await page.goto(own + fragment);
  await page.waitForFunction(() => (globalThis.eipcViewer?.picture.stage.drawn ?? 0) > 0 || document.querySelector(".error") !== null);
  return { page, problems };
}

export const sample = (page: Page): Promise<number> => page.evaluate(() => globalThis.eipcViewer!.player.sample);
export const named = (page: Page, name: string): ReturnType<Page["locator"]> => page.locator(`[data-name="${name}"]`);

// The picture, 4 bytes a pixel.
export async function pixels(page: Page): Promise<{ width: number; height: number; data: Uint8Array }> {
  const { width, height, base64 } = await page.evaluate(async () => {
    const image = await createImageBitmap(globalThis.eipcViewer!.picture.stage.still());
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d")!;
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let binary = "";
    for (let i = 0; i < data.length; i += 8192) binary += String.fromCharCode(...data.subarray(i, i + 8192));
    return { width: image.width, height: image.height, base64: btoa(binary) };
  });
  return { width, height, data: Buffer.from(base64, "base64") };
}
