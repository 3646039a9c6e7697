// Headless Chromium with its software renderer, for the scripts that draw and measure pages.

import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic",
               "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export async function startChromium() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
}

// Waits for the first picture of a page.
export async function drawn(page, timeout = 120_000) {
  await page.waitForFunction(() => globalThis.eipcViewer?.picture.stage.drawn > 0, null, { timeout });
}

// From now on pictures of a page are drawn as those at rest are, also while it moves.
export async function drawFinely(page) {
  await page.evaluate(() => {
    const pictures = globalThis.eipcConsole?.tiles ? [globalThis.eipcConsole.tiles.picture] : globalThis.eipcViewer.pictures();
    for (const { stage } of pictures) {
      stage.draw = () => { stage.still(); };
      stage.draw();
    }
  });
}
