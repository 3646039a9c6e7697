// Frames a second of the page in headless Chromium's software renderer: 20,480 triangles in motion beside an empty scene, in turns.
//
//     node scripts/measure.mjs

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { startChromium } from "./chromium.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SECONDS = 4;
const ROUNDS = 3;
const SIZE = { width: 1280, height: 720 };

async function measure(browser, path) {
  const page = await browser.newPage({ viewport: SIZE });
  await page.goto(pathToFileURL(path).href);
  await page.waitForFunction(() => globalThis.eipcViewer?.picture.stage.drawn > 0);
  const result = await page.evaluate(async (seconds) => {
    const { picture } = globalThis.eipcViewer;
    const begin = performance.now();
    let frames = 0;
    await new Promise((resolve) => {
      const next = () => {
        picture.show(frames % 51);
        picture.stage.draw();
        frames++;
        if (performance.now() - begin < 1000 * seconds) requestAnimationFrame(next);
        else resolve();
      };
      requestAnimationFrame(next);
    });
    return { rate: (1000 * frames) / (performance.now() - begin), ...picture.extent };
  }, SECONDS);
  await page.close();
  return result;
}

const folder = mkdtempSync(join(tmpdir(), "eipc-viewer-"));
const browser = await startChromium();
try {
  const pages = { "20,480 triangles": ["--subdivisions", "5"], "empty scene": ["--empty"] };
  for (const [name, options] of Object.entries(pages)) execFileSync("/usr/bin/python3", [join(ROOT, "tests/made_recording.py"), join(folder, `${name}.html`), ...options]);
  for (let round = 1; round <= ROUNDS; round++) {
    for (const name of Object.keys(pages)) {
      const { rate, triangles, nodes, vertices } = await measure(browser, join(folder, `${name}.html`));
      console.log(`${SIZE.width} x ${SIZE.height}, round ${round}, ${name}: ${rate.toFixed(1)} frames/s; ${triangles} triangles in all, ` +
                  `${12 * nodes} bytes of cage positions a frame (${12 * vertices} bytes of surface positions)`);
    }
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
