// Pictures of a recorded grasp for the documents:  node scripts/pictures.mjs GRASP.html FOLDER
//
// GRASP.html: as ./dev demo writes it. They are taken of the page as a person sees it, joined and made small by ffmpeg and
// scripts/shrink_picture.py.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { drawFinely, drawn, startChromium } from "./chromium.mjs";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const MOST_BYTES = 1e6; // of the moving picture
const NEAR = "&cam=0.385,-0.42,0.285,0.012,0,0.1";
const FROM_THE_LEFT = "&cam=0.17,-0.42,0.24,0.005,0,0.155";
const LOW_FROM_THE_LEFT = "&cam=0.17,-0.42,0.16,0.005,0,0.07";
const LAPTOP = { width: 960, height: 620 };
const VIEW_ONLY = { width: 400, height: 800 }; // narrow pages have the picture across
const PICTURES = [
  { name: "viewer_light", viewport: LAPTOP, colorScheme: "light", fragment: "#t=3.6" },
  { name: "viewer_pressure", viewport: LAPTOP, colorScheme: "dark", fragment: `#t=1.6${LOW_FROM_THE_LEFT}`, press: ["forces", "through", "points"], heat: "pressure" },
  { name: "viewer_stress", viewport: LAPTOP, colorScheme: "light", fragment: `#t=3.6${FROM_THE_LEFT}`, press: ["forces"], heat: "stress" },
  { name: "viewer_forces", viewport: { width: 640, height: 800 }, colorScheme: "light", fragment: `#t=3.6${FROM_THE_LEFT}`, press: ["through"], of: ".view" },
  { name: "viewer_phone", viewport: { width: 390, height: 760 }, colorScheme: "dark", fragment: "#t=2.4" },
];
const PHASES = ["1.5", "2.3", "3.6"]; // s: squeezed, lifted, held
const FRAMES = { viewport: { width: 480, height: 760 }, colorScheme: "light" };

const [grasp, folder] = process.argv.slice(2);
if (!grasp || !folder || !existsSync(grasp)) {
  console.error(`usage: node scripts/pictures.mjs GRASP.html FOLDER${grasp ? `\n${grasp} does not exist: ./dev demo writes it` : ""}`);
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const scratch = mkdtempSync(join(tmpdir(), "eipc-pictures-"));
const browser = await startChromium();
const named = (page, name) => page.locator(`[data-name="${name}"]`);
const ffmpeg = (...options) => execFileSync("ffmpeg", ["-hide_banner", "-loglevel", "error", "-y", ...options], { stdio: "inherit" });

async function open({ fragment, press = [], heat = "", ...options }) {
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(pathToFileURL(resolve(grasp)).href + fragment);
  await drawn(page);
  await drawFinely(page);
  for (const name of press) await named(page, name).click();
  if (heat) await named(page, "heat").selectOption(heat);
  return page;
}

// Screenshots are drawn anew by the browser: what was clicked is in them.
async function shoot(page, path, of) {
  await page.mouse.move(0, 0);
  await page.evaluate(() => { document.activeElement?.blur(); });
  await (of ? page.locator(of) : page).screenshot({ path });
}

function keep(from, name, width) {
  const to = join(folder, `${name}.png`);
  execFileSync("/usr/bin/python3", [join(ROOT, "scripts/shrink_picture.py"), from, to, String(width)], { stdio: "inherit" });
  console.log(`${to}: ${Math.round(statSync(to).size / 1000)} kB`);
}

async function phases() {
  const parts = [];
  for (const [index, time] of PHASES.entries()) {
    const page = await open({ viewport: VIEW_ONLY, colorScheme: "light", fragment: `#t=${time}${NEAR}` });
    parts.push(join(scratch, `phase_${index}.png`));
    await shoot(page, parts[index], ".view");
    await page.context().close();
  }
  const joined = join(scratch, "phases.png");
  ffmpeg(...parts.flatMap((part) => ["-i", part]), "-filter_complex", `hstack=inputs=${parts.length}`, joined);
  keep(joined, "viewer_phases", VIEW_ONLY.width * parts.length);
}

// Every second sample, 25 pictures a second: as fast as it was.
async function animation() {
  const page = await open({ ...FRAMES, fragment: `#t=0${NEAR}` });
  const samples = await page.evaluate(() => globalThis.eipcViewer.recording.samples);
  for (let sample = 0, frame = 0; sample < samples; sample += 2, frame++) {
    await page.evaluate((at) => { globalThis.eipcViewer.player.seek(at); }, sample);
    await shoot(page, join(scratch, `frame_${String(frame).padStart(4, "0")}.png`), ".view");
  }
  const to = join(folder, "grasp_moving.gif");
  const palette = "tpad=stop_mode=clone:stop_duration=0.6,split[a][b];[a]palettegen=max_colors=128:stats_mode=diff[p];[b][p]paletteuse=dither=none:diff_mode=rectangle";
  ffmpeg("-framerate", "25", "-i", join(scratch, "frame_%04d.png"), "-filter_complex", palette, "-loop", "0", to);
  const { size } = statSync(to);
  console.log(`${to}: ${Math.round(size / 1000)} kB`);
  if (size > MOST_BYTES) throw new Error(`${to} has ${size} bytes, ${MOST_BYTES} are allowed`);
}

try {
  for (const { name, of, ...options } of PICTURES) {
    const page = await open(options);
    await shoot(page, join(scratch, "picture.png"), of);
    keep(join(scratch, "picture.png"), name, options.viewport.width);
    await page.context().close();
  }
  await phases();
  await animation();
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
