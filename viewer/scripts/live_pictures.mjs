// Pictures of docs/howto/live.md:  node scripts/live_pictures.mjs FOLDER
//
// Drives the grasp of the demo on the page of a server, as a person would: closes the fingers, lifts. Needs ./dev build.

import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const FLAGS = ["--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic",
               "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const [folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node scripts/live_pictures.mjs FOLDER");
  process.exit(2);
}

async function view(...options) {
  const child = spawn(join(ROOT, "build/release/bin/eipc"), ["view", "--still", join(ROOT, "models/scenes/bubble_teddy_low_sound.textproto"), ...options],
    { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /eipc view: (\S+)/.exec(line);
    if (found) return { url: found[1], end: () => child.kill("SIGINT") };
  }
  throw new Error("eipc view ended");
}

const shown = (page) => page.waitForFunction(() => (globalThis.eipcViewer?.picture.stage.drawn ?? 0) > 0, null, { timeout: 120_000 });

// Force of each finger on the bear, N, at present.
const presses = (most) => {
  const { pairs, forces, samples } = globalThis.eipcConsole.page.recording;
  const of = (pair) => Math.hypot(...forces.normal.subarray(3 * ((samples - 1) * pairs.length + pair), 3 * ((samples - 1) * pairs.length + pair + 1)));
  const found = pairs.flatMap((pair, i) => (pair.on === "teddy" && pair.by.startsWith("bubble") ? [of(i)] : []));
  return found.length === 2 && Math.min(...found) > most;
};

async function drive(page) {
  await page.locator('[data-name="drive"]').click();
  await page.keyboard.down("n");
  await page.waitForFunction(presses, 6, { timeout: 400_000 });
  await page.keyboard.up("n");
  await page.keyboard.down("e");
  await page.waitForFunction(() => globalThis.eipcConsole.page.drive.pose.position.z > 0.13, null, { timeout: 400_000 });
  await page.keyboard.up("e");
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
const server = await view();
try {
  const context = await browser.newContext({ viewport: { width: 960, height: 620 }, colorScheme: "light" });
  const page = await context.newPage();
  await page.goto(server.url);
  await shown(page);
  await drive(page);
  await page.screenshot({ path: join(folder, "viewer_drive.png") });
  console.log(join(folder, "viewer_drive.png"));
} finally {
  await browser.close();
  server.end();
}
