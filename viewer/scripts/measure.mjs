// What the page takes in headless Chromium's software renderer, as lines of JSON (name, value, unit):
//
//     node scripts/measure.mjs [--rounds N] [--drags N] frames | tiles | latency ...
//
// frames: 20,480 triangles in motion beside the same in one colour and an empty scene, in turns. tiles: 64 worlds of the grasp beside an
// empty scene, then in one colour. latency: from
// the pointer's event to the state and to the picture that show its effect, while the grasp takes steps of 20 ms in real time.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { drawn, startChromium } from "./chromium.mjs";
import { viewGrasp } from "./eipc_view.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SECONDS = 4;
const SIZE = { width: 1280, height: 720 };
const TILES = 64;
const HANGS_MS = 120_000;

const median = (values) => percentile(values, 0.5);
function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}
const say = (name, value, unit) => { console.log(JSON.stringify({ name, value, unit })); };

// In the page: frames a second while each of them is drawn to the end (a pixel is read back), and how many pixels along one of the page they have
// at the end: pictures that take long get fewer, in the second before the frames are counted.
async function drawRate([what, seconds]) {
  const tiles = globalThis.eipcConsole?.tiles;
  const { stage } = tiles ? tiles.picture : globalThis.eipcViewer.picture;
  const gl = stage.canvas.getContext("webgl2");
  const pixel = new Uint8Array(4);
  const begin = performance.now() + 1000;
  let frames = 0;
  await new Promise((resolve) => {
    const next = () => {
      if (what === "tiles") tiles.draw();
      else {
        globalThis.eipcViewer.picture.show(stage.drawn % globalThis.eipcViewer.recording.samples);
        stage.draw();
      }
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
      if (performance.now() >= begin) frames++;
      if (performance.now() - begin < 1000 * seconds) requestAnimationFrame(next);
      else resolve();
    };
    requestAnimationFrame(next);
  });
  return { rate: (1000 * frames) / (performance.now() - begin), ratio: stage.canvas.width / stage.canvas.clientWidth };
}

// In the page: from now on every surface has one colour, without light and shadows. What is left is the renderer's time for triangles.
function flatten() {
  const { stage } = (globalThis.eipcConsole?.tiles ?? globalThis.eipcViewer).picture;
  stage.withoutShadows();
  stage.scene.traverse(({ isMesh, material }) => {
    if (!isMesh) return;
    const { onBeforeCompile } = material;
    material.onBeforeCompile = (shader, renderer) => {
      onBeforeCompile.call(material, shader, renderer);
      shader.fragmentShader = "void main() { gl_FragColor = vec4(0.8, 0.6, 0.4, 1.0); }";
    };
    const key = material.customProgramCacheKey();
    material.customProgramCacheKey = () => `flat ${key}`;
    material.needsUpdate = true;
  });
}

async function ofRecording(browser, path, { flat = false } = {}) {
  const page = await browser.newPage({ viewport: SIZE });
  await page.goto(pathToFileURL(path).href);
  await drawn(page);
  if (flat) await page.evaluate(flatten);
  const { rate, ratio } = await page.evaluate(drawRate, ["recording", SECONDS]);
  const extent = await page.evaluate(() => globalThis.eipcViewer.picture.extent);
  await page.close();
  return { rate, ratio, extent };
}

// Writes pages of made recordings into a folder.
function makePage(path, ...options) {
  execFileSync("/usr/bin/python3", [join(ROOT, "tests/made_recording.py"), path, ...options], { stdio: ["ignore", "inherit", "inherit"] });
  return path;
}

async function frames(browser, { folder, rounds }) {
  const full = makePage(join(folder, "full.html"), "--subdivisions", "5");
  const empty = makePage(join(folder, "empty.html"), "--empty");
  const rates = { full: [], flat: [], empty: [], ratio: [] };
  let extent;
  for (let round = 0; round < rounds; round++) {
    const seen = await ofRecording(browser, full);
    ({ extent } = seen);
    rates.full.push(seen.rate);
    rates.ratio.push(seen.ratio);
    rates.flat.push((await ofRecording(browser, full, { flat: true })).rate);
    rates.empty.push((await ofRecording(browser, empty)).rate);
  }
  say("triangles.rate", median(rates.full), "frames/s");
  say("triangles.ratio", median(rates.ratio), "");
  say("triangles.flat_rate", median(rates.flat), "frames/s");
  say("triangles.empty_rate", median(rates.empty), "frames/s");
  say("triangles.count", extent.triangles, "");
  say("triangles.cage_bytes", 12 * extent.nodes, "B");
  say("triangles.surface_bytes", 12 * extent.vertices, "B");
}

async function tiles(browser, { folder, rounds }) {
  const empty = makePage(join(folder, "empty.html"), "--empty");
  const server = await viewGrasp("--still", "--worlds", String(TILES));
  const rates = { full: [], flat: [], empty: [], ratio: [] };
  try {
    const page = await browser.newPage({ viewport: SIZE });
    await page.goto(`${server.url}&world=all`);
    await page.waitForFunction((worlds) => globalThis.eipcConsole?.tiles?.cages.filter(Boolean).length === worlds, TILES, { timeout: HANGS_MS });
    for (let round = 0; round < rounds; round++) {
      const { rate, ratio } = await page.evaluate(drawRate, ["tiles", SECONDS]);
      rates.full.push(rate);
      rates.ratio.push(ratio);
      rates.empty.push((await ofRecording(browser, empty)).rate);
    }
    await page.evaluate(flatten);
    for (let round = 0; round < rounds; round++) rates.flat.push((await page.evaluate(drawRate, ["tiles", SECONDS])).rate);
    await page.close();
  } finally {
    server.end();
  }
  say("tiles.rate", median(rates.full), "frames/s");
  say("tiles.ratio", median(rates.ratio), "");
  say("tiles.flat_rate", median(rates.flat), "frames/s");
  say("tiles.empty_rate", median(rates.empty), "frames/s");
  say("tiles.count", TILES, "");
}

// In the page: notes when the pointer moves, when a state has come whose command is another one, and when the picture after that is drawn.
function watchDrags() {
  const { page, connection } = globalThis.eipcConsole;
  const { stage } = globalThis.eipcViewer.picture;
  const gl = stage.canvas.getContext("webgl2");
  const pixel = new Uint8Array(4);
  const log = { moved: 0, state: 0, picture: 0, still: 0, connection, states: [], pictures: [] };
  globalThis.dragLog = log;
  // The same move comes early and again with the next frame, both with the time of the device.
  for (const kind of ["pointerrawupdate", "pointermove"]) addEventListener(kind, (event) => { if (log.moved === 0) log.moved = event.timeStamp; }, true);
  const commandOf = (seen) => JSON.stringify(seen.boundaryPoses.map(({ commanded }) => { const p = commanded.positionM; return [p.x, p.y, p.z].map((value) => value.toFixed(7)); }));
  let before = "";
  const show = page.drive.show.bind(page.drive);
  page.drive.show = (seen) => {
    const command = commandOf(seen);
    log.still = command === before ? log.still + 1 : 0;
    if (log.moved > 0 && log.state === 0 && command !== before) log.state = performance.now();
    before = command;
    show(seen);
  };
  const draw = stage.draw.bind(stage);
  stage.draw = () => {
    draw();
    if (log.state === 0 || log.picture > 0) return;
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    log.picture = performance.now();
    log.states.push(log.state - log.moved);
    log.pictures.push(log.picture - log.moved);
  };
}

// Where the middle of the hand's vertical arrow is on the page, px.
function arrowOnPage() {
  const { stage } = globalThis.eipcViewer.picture;
  const at = globalThis.eipcConsole.page.drive.pose.position.clone();
  const factor = at.distanceTo(stage.camera.position) * Math.min((1.9 * Math.tan((Math.PI * stage.camera.fov) / 360)) / stage.camera.zoom, 7);
  at.z += 0.25 * 0.9 * factor * 0.4;
  const p = at.project(stage.camera);
  const box = stage.canvas.getBoundingClientRect();
  return [box.left + ((p.x + 1) / 2) * box.width, box.top + ((1 - p.y) / 2) * box.height];
}

async function latency(browser, { drags }) {
  const server = await viewGrasp("--still");
  try {
    const page = await browser.newPage({ viewport: SIZE });
    page.setDefaultTimeout(HANGS_MS);
    await page.goto(server.url);
    await drawn(page);
    await page.locator('[data-name="drive"]').click();
    await page.waitForFunction(() => globalThis.eipcConsole.page.drive.pose !== null);
    await page.evaluate(watchDrags);
    const [x, y] = await page.evaluate(arrowOnPage);
    await page.mouse.move(x, y);
    await page.mouse.down();
    const { frames: frames0, bytes: bytes0 } = await page.evaluate(() => ({ frames: globalThis.dragLog.connection.frames, bytes: globalThis.dragLog.connection.bytes }));
    for (let i = 0; i < drags; i++) {
      await page.waitForFunction(() => globalThis.dragLog.still > 3);
      await new Promise((resolve) => { setTimeout(resolve, (20 * ((7 * i) % 20)) / 20); }); // at all places within a step
      await page.evaluate(() => { Object.assign(globalThis.dragLog, { moved: 0, state: 0, picture: 0 }); });
      await page.mouse.move(x, y - (i % 2 === 0 ? 8 : 0));
      await page.waitForFunction((count) => globalThis.dragLog.pictures.length > count, i);
    }
    await page.mouse.up();
    const log = await page.evaluate(() => ({ states: globalThis.dragLog.states, pictures: globalThis.dragLog.pictures, frames: globalThis.dragLog.connection.frames, bytes: globalThis.dragLog.connection.bytes }));
    for (const [name, values] of [["state", log.states], ["picture", log.pictures]]) {
      say(`drag to ${name}.p50`, percentile(values, 0.5), "ms");
      say(`drag to ${name}.p99`, percentile(values, 0.99), "ms");
    }
    say("drag.count", log.states.length, "");
    say("drag.bytes", (log.bytes - bytes0) / (log.frames - frames0), "B");
    await page.close();
  } finally {
    server.end();
  }
}

// What an empty scene's frame takes beside it.
async function emptyFrame(browser, { folder }) {
  say("empty frame.p50", 1000 / (await ofRecording(browser, makePage(join(folder, "empty.html"), "--empty"))).rate, "ms");
}

const PARTS = { frames: [frames], tiles: [tiles], latency: [latency, emptyFrame] };

function parsed(words) {
  const options = { rounds: 3, drags: 100, parts: [] };
  for (let i = 0; i < words.length; i++) {
    if (words[i] === "--rounds" || words[i] === "--drags") options[words[i].slice(2)] = Number(words[++i]);
    else if (words[i] in PARTS) options.parts.push(words[i]);
    else throw new Error(`measure.mjs: there is no part '${words[i]}'; there are ${Object.keys(PARTS).join(", ")}`);
  }
  return { ...options, parts: options.parts.length > 0 ? options.parts : Object.keys(PARTS) };
}

const options = parsed(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), "eipc-viewer-"));
const browser = await startChromium();
try {
  for (const part of options.parts) for (const measure of PARTS[part]) await measure(browser, { ...options, folder });
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
