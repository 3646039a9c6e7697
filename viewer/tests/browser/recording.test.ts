import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import type { Page } from "playwright-core";
import { makePage, named, open, pixels, sample, PageTests } from "./browser.js";

// The recording has 51 samples of 0.02 s; tests/made_recording.py says what is in it.
const pages = new PageTests((path) => { makePage(path("made.html")); });
const { check } = pages;
const path = pages.path("made.html");
const SIDE = "&cam=1,0,0.05,0,0,0.05"; // views along -x at the height of the ball
const text = (page: Page, name: string): Promise<string | null> => named(page, name).textContent();

check("the page opens without errors and fetches nothing", async () => {
  const { page, problems } = await open(pages.browser, path);
  assert.equal(await page.locator("h1").textContent(), "squeeze <the ball> & lift it");
  assert.equal(await page.title(), "squeeze <the ball> & lift it");
  assert.deepEqual(problems, []);
});

check("foreign code in the page does not run", async () => {
  const { page } = await open(pages.browser, path);
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "globalThis.foreign = true";
    document.body.append(script);
    const style = document.createElement("style");
    style.textContent = "h1 { font-size: 99px }";
    document.head.append(style);
    return ["foreign" in globalThis, getComputedStyle(document.querySelector("h1")!).fontSize];
  });
  assert.deepEqual(ran, [false, "16px"]);
});

// Rows of the picture whose middle column shows the ball's colour.
async function ballRows(page: Page): Promise<{ top: number; bottom: number; height: number }> {
  const { width, height, data } = await pixels(page);
  const rows: number[] = [];
  for (let y = 0; y < height; y++) {
    const at = 4 * (y * width + Math.floor(width / 2));
    const [r, g, b] = [data[at]!, data[at + 1]!, data[at + 2]!];
    if (r > 1.15 * g && g > 1.15 * b) rows.push(y);
  }
  return { top: Math.min(...rows), bottom: Math.max(...rows), height };
}

check("the surface is where its cage puts it", async () => {
  for (const [time, stretch, lift] of [[0, 1, 0], [0.5, 1.05, 0], [0.8, 1.05, 0.036]] as const) {
    const { page } = await open(pages.browser, path, `#t=${time}&cam=0.5,0,0.05,0,0,0.05`);
    for (const part of ["forces", "grid"]) await named(page, part).click();
    const { top, height } = await ballRows(page);
    // The silhouette of a ball at distance 0.5 in a picture 2 tan(15 degrees) high; the test would see it a sample late.
    const angle = Math.atan(lift / 0.5) + Math.asin((0.04 * stretch) / Math.hypot(0.5, lift));
    const expected = height / 2 - (height * Math.tan(angle)) / (2 * Math.tan(Math.PI / 12));
    assert.ok(Math.abs(top - expected) <= 2, `top of the ball at t = ${time}: row ${top}, expected ${expected}`);
  }
});

check("normals turn with the deformation: a lifted ball is lit as one at rest", async () => {
  const brightness = async (fragment: string): Promise<number> => {
    const { page } = await open(pages.browser, path, fragment);
    for (const part of ["forces", "grid"]) await named(page, part).click();
    const { width, height, data } = await pixels(page);
    const at = 4 * (Math.floor(height / 2) * width + Math.floor(width / 2));
    return data[at]! + data[at + 1]! + data[at + 2]!;
  };
  const start = await brightness(`#t=0${SIDE}`); // the camera faces the middle of the ball, along its normal
  const end = await brightness("#t=1&cam=1,0,0.11,0,0,0.11");
  assert.ok(Math.abs(start - end) <= 0.04 * start, `${start} and ${end}`);
});

check("play, pause and the end", async () => {
  const { page } = await open(pages.browser, path);
  await page.getByLabel("Speed of playing").selectOption("0.1");
  await named(page, "play").click();
  await page.waitForFunction(() => globalThis.eipcViewer!.player.sample > 3);
  await named(page, "play").click();
  const paused = await sample(page);
  assert.equal(await page.evaluate(() => globalThis.eipcViewer!.player.playing), false);
  assert.ok(paused > 3 && paused < 50);
  await page.getByLabel("Speed of playing").selectOption("4");
  await named(page, "play").click();
  await page.waitForFunction(() => !globalThis.eipcViewer!.player.playing);
  assert.equal(await sample(page), 50);
  assert.equal(await text(page, "clock"), "1.000 s of 1.000 s");
});

check("a loop begins again", async () => {
  const { page } = await open(pages.browser, path, "#t=0.9");
  await named(page, "loop").click();
  await named(page, "play").click();
  await page.waitForFunction(() => globalThis.eipcViewer!.player.sample < 30);
  assert.equal(await page.evaluate(() => globalThis.eipcViewer!.player.playing), true);
});

check("the slider and the plots move the time", async () => {
  const { page } = await open(pages.browser, path);
  const slider = (await named(page, "time").boundingBox())!;
  await page.mouse.move(slider.x + 8, slider.y + slider.height / 2);
  await page.mouse.down();
  await page.mouse.move(slider.x + slider.width / 2, slider.y + slider.height / 2, { steps: 4 });
  await page.mouse.up();
  assert.ok(Math.abs((await sample(page)) - 25) <= 1);
  const canvas = named(page, "plot-contacts").locator("canvas");
  await canvas.scrollIntoViewIfNeeded();
  const plot = (await canvas.boundingBox())!;
  await page.mouse.move(plot.x + plot.width * 0.6, plot.y + 30);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width - 8, plot.y + 30, { steps: 3 });
  await page.mouse.up();
  assert.equal(await sample(page), 50);
});

check("the figures of the time shown", async () => {
  const { page } = await open(pages.browser, path, "#t=0.8");
  assert.equal(await text(page, "step"), "40 of 50");
  assert.equal(await text(page, "contacts"), "50");
  assert.equal(await text(page, "gap"), "100 µm");
  assert.equal(await text(page, "newton"), String(3 + (39 % 4)));
  assert.equal(await text(page, "factor"), "4.00 × real time");
  assert.match((await text(page, "force-table"))!, /forces on ball.*left pad8\.00 N1\.50 N.*right pad8\.00 N1\.50 N/);
  assert.equal(await page.evaluate(() => globalThis.eipcViewer!.picture.arrowsShown), 4);
  assert.equal(await text(page, "force-scale"), "arrow of 10 mm: 1 N");
  assert.match((await named(page, "plot-forces").locator("canvas").getAttribute("aria-label"))!, /left pad, normal 8\.00 N/);
  await named(page, "back").click();
  for (let i = 0; i < 9; i++) await page.keyboard.press(",");
  assert.match((await text(page, "converged"))!, /^no: /);
  await named(page, "body").selectOption("left pad");
  assert.match((await text(page, "force-table"))!, /forces on left pad.*ball8\.00 N/);
  await named(page, "start").click();
  assert.equal(await text(page, "gap"), "nothing near");
  assert.equal(await page.evaluate(() => globalThis.eipcViewer!.picture.arrowsShown), 0);
});

check("parts of the picture are switched on and off", async () => {
  const { page } = await open(pages.browser, path, "#t=0.8");
  for (const name of ["forces", "cage", "grid"]) {
    const before = await pixels(page);
    const pressed = await named(page, name).getAttribute("aria-pressed");
    await named(page, name).click();
    assert.notEqual(await named(page, name).getAttribute("aria-pressed"), pressed);
    const now = await pixels(page);
    let changed = 0;
    for (let i = 0; i < now.data.length; i += 4) if (Math.abs(now.data[i]! - before.data[i]!) > 8) changed++;
    assert.ok(changed > 100, `${name} changed ${changed} pixels`);
  }
});

check("a link opens at its time and camera", async () => {
  const { page } = await open(pages.browser, path);
  const canvas = (await named(page, "picture").boundingBox())!;
  const eye = (): Promise<number[]> => page.evaluate(() => [...globalThis.eipcViewer!.picture.stage.view.eye]);
  const before = await eye();
  await page.mouse.move(canvas.x + 200, canvas.y + 200);
  await page.mouse.down();
  await page.mouse.move(canvas.x + 320, canvas.y + 240, { steps: 5 });
  await page.mouse.up();
  await page.mouse.wheel(0, -240);
  await page.keyboard.press("End");
  const turned = await eye();
  assert.ok(Math.hypot(...turned.map((value, k) => value - before[k]!)) > 0.05);
  const url = page.url();
  const again = (await open(pages.browser, path, url.slice(url.indexOf("#")))).page;
  assert.equal(await sample(again), 50);
  const opened = await again.evaluate(() => [...globalThis.eipcViewer!.picture.stage.view.eye]);
  opened.forEach((value, k) => { assert.ok(Math.abs(value - turned[k]!) < 1e-3); });
  await again.evaluate(() => { location.hash = "#t=0.2"; });
  await again.waitForFunction(() => globalThis.eipcViewer!.player.sample === 10);
});

check("where the processor draws, a picture at rest is finer than one in motion, and a saved one has the size of the shown one", async () => {
  const { page } = await open(pages.browser, path);
  const wait = (): Promise<unknown> => page.waitForFunction(() => {
    const { canvas } = globalThis.eipcViewer!.picture.stage;
    return canvas.width === 2 * canvas.clientWidth && canvas.height === 2 * canvas.clientHeight;
  });
  await wait();
  // As if each picture took `ms`: what the machine takes is not known here.
  const sizesAt = (ms: number): Promise<{ moving: number; still: number; shown: number }> => page.evaluate((took) => {
    const { stage } = globalThis.eipcViewer!.picture;
    const { fineness } = (stage as unknown as { painter: { fineness: { took: (ms: number) => void } } }).painter;
    for (let picture = 0; picture < 30; picture++) fineness.took(took);
    fineness.took = () => undefined;
    stage.draw();
    const moving = stage.canvas.width;
    const sizes = { moving, still: stage.still().width, shown: stage.canvas.clientWidth };
    delete (fineness as Partial<typeof fineness>).took;
    return sizes;
  }, ms);
  const coarse = await sizesAt(100);
  assert.deepEqual(coarse, { moving: Math.floor(coarse.shown / 2), still: coarse.shown, shown: coarse.shown });
  const sizes = await sizesAt(1);
  assert.deepEqual(sizes, { moving: sizes.shown, still: sizes.shown, shown: sizes.shown });
  await wait();
  // The moving picture has fewer colours along the silhouette: each pixel is of the body or of what is behind it.
  const colours = await page.evaluate(() => {
    const { stage } = globalThis.eipcViewer!.picture;
    const count = (): number => {
      const context = new OffscreenCanvas(stage.canvas.clientWidth, stage.canvas.clientHeight).getContext("2d")!;
      context.drawImage(stage.canvas, 0, 0, stage.canvas.clientWidth, stage.canvas.clientHeight);
      return new Set(new Uint32Array(context.getImageData(0, 0, stage.canvas.clientWidth, stage.canvas.clientHeight).data.buffer)).size;
    };
    stage.draw();
    const moving = count();
    stage.still();
    return { moving, rest: count() };
  });
  assert.ok(colours.rest > 1.1 * colours.moving, JSON.stringify(colours));
});

check("the picture is saved as PNG", async () => {
  const { page } = await open(pages.browser, path, "#t=0.8");
  const [download] = await Promise.all([page.waitForEvent("download"), named(page, "png").click()]);
  assert.equal(download.suggestedFilename(), "squeeze_the_ball_lift_it_0.800s.png");
  const saved = pages.path("saved.png");
  await download.saveAs(saved);
  assert.equal(readFileSync(saved).subarray(1, 4).toString(), "PNG");
  assert.ok(statSync(saved).size > 10_000);
});
