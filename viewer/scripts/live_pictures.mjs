// Pictures of running sessions for the documents:  node scripts/live_pictures.mjs FOLDER
//
// Drives the grasp of the demo on the page of a server, as a person would (closes the fingers, lifts), and watches several worlds of it
// as tiles, each at another time. Needs ./dev build.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { drawFinely, drawn, startChromium } from "./chromium.mjs";
import { viewGrasp } from "./eipc_view.mjs";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const LAPTOP = { width: 960, height: 620 };
const LONG_MS = 120_000;
const WORLDS = 15;
const STEPS = 200; // of the scene's schedule
const [folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node scripts/live_pictures.mjs FOLDER");
  process.exit(2);
}

// Whether each finger presses on the bear with more than so many newtons at present.
const presses = (most) => {
  const { pairs, forces, samples } = globalThis.eipcConsole.page.recording;
  const of = (pair) => Math.hypot(...forces.normal.subarray(3 * ((samples - 1) * pairs.length + pair), 3 * ((samples - 1) * pairs.length + pair + 1)));
  const found = pairs.flatMap((pair, i) => (pair.on === "teddy" && pair.by.startsWith("bubble") ? [of(i)] : []));
  return found.length === 2 && Math.min(...found) > most;
};

async function drive(page, url) {
  await page.goto(url);
  await drawn(page);
  await page.locator('[data-name="drive"]').click();
  await page.keyboard.down("n");
  await page.waitForFunction(presses, 6, { timeout: LONG_MS });
  await page.keyboard.up("n");
  await page.keyboard.down("e");
  await page.waitForFunction(() => globalThis.eipcConsole.page.drive.pose.position.z > 0.13, null, { timeout: LONG_MS });
  await page.keyboard.up("e");
}

// Steps world w of n to the share (w + 1) / n of the grasp, so that the tiles show all of it.
async function showTiles(page, url) {
  await page.goto(url);
  await drawn(page);
  await page.evaluate(async ([worlds, steps]) => {
    const { server, page: { session } } = globalThis.eipcConsole;
    for (let world = 0; world < worlds; world++) {
      for (let step = 0; step < Math.round((steps * (world + 1)) / worlds); step++) await server.step({ session, world, dtS: 0.02 });
    }
  }, [WORLDS, STEPS]);
  await page.goto(`${url}&world=all`);
  await page.waitForFunction((worlds) => Array.from({ length: worlds }, (_, world) => document.querySelector(`[data-name="tile ${world}"]`)?.textContent ?? "")
    .every((text) => text.endsWith(" s")), WORLDS, { timeout: 60_000 });
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => { requestAnimationFrame(resolve); }); })); // the last one is drawn
}

const scratch = mkdtempSync(join(tmpdir(), "eipc-pictures-"));
const browser = await startChromium();

// Of a page of `eipc view ...options`, once `ready` has brought it about.
async function picture(name, colorScheme, options, ready) {
  const server = await viewGrasp(...options);
  const context = await browser.newContext({ viewport: LAPTOP, colorScheme });
  try {
    const page = await context.newPage();
    await ready(page, server.url);
    await drawFinely(page);
    await page.screenshot({ path: join(scratch, "picture.png") });
  } finally {
    await context.close();
    server.end();
  }
  const to = join(folder, `${name}.png`);
  execFileSync("/usr/bin/python3", [join(ROOT, "scripts/shrink_picture.py"), join(scratch, "picture.png"), to, String(LAPTOP.width)], { stdio: "inherit" });
  console.log(`${to}: ${Math.round(statSync(to).size / 1000)} kB`);
}

try {
  await picture("viewer_drive", "light", ["--still"], drive);
  await picture("viewer_tiles", "light", ["--still", "--worlds", String(WORLDS)], showTiles);
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
