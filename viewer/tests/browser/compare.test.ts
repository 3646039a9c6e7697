import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { named, open, sample, PageTests, VIEWER } from "./browser.js";

// tests/made_comparison.py says what is in the two runs: the second is longer by 2 steps and parts from the first at step 4.
const pages = new PageTests((path) => {
  const make = (...options: string[]): void => { execFileSync("/usr/bin/python3", [join(VIEWER, "tests/made_comparison.py"), ...options], { stdio: "inherit" }); };
  make(path("compared.html"));
  make(path("equal.html"), "--equal");
});
const { check } = pages;
const path = pages.path("compared.html");
const equal = pages.path("equal.html");

// Middle of the red-brown cube in one of the pictures, as shares of its width and height.
async function cubeIn(page: Page, name: string): Promise<[number, number]> {
  return page.evaluate((wanted) => {
    const both = globalThis.eipcViewer!.exports.draw();
    const canvas = document.querySelector<HTMLCanvasElement>(`[data-name="${wanted}"]`)!;
    const { clientWidth: width, clientHeight: height } = canvas;
    const left = canvas.getBoundingClientRect().left > 5 ? both.width - width : 0;
    const { data } = (both as OffscreenCanvas).getContext("2d")!.getImageData(left, 0, width, height);
    let [x, y, n] = [0, 0, 0];
    for (let i = 0; i < data.length; i += 4) {
      if (data[i]! <= 1.15 * data[i + 1]! || data[i + 1]! <= 1.15 * data[i + 2]!) continue;
      x += (i / 4) % width;
      y += Math.floor(i / 4 / width);
      n++;
    }
    return [x / n / width, y / n / height];
  }, name);
}

check("two runs are shown at one time, and part where the first difference is marked", async () => {
  const { page, problems } = await open(pages.browser, path, "#t=0.06&cam=2,0,0.5,0,0,0.5");
  for (const part of ["forces", "grid"]) await named(page, part).click();
  assert.match((await named(page, "difference").textContent())!, /^First difference: step 4 \(0\.08 s\): the cage of 'cube'.*largest difference 0\.2/);
  assert.equal(await named(page, "pane-1").textContent(), "1: episode_000000.npz");
  assert.equal(await named(page, "pane-2").textContent(), "2: episode_000001.npz");
  const at = async (): Promise<number[][]> => [await cubeIn(page, "picture"), await cubeIn(page, "other-picture")];
  const [longer, shorter] = await at(); // the page's clock is the longer run's, which is the second
  assert.ok(Math.hypot(longer![0]! - shorter![0]!, longer![1]! - shorter![1]!) < 0.01, "equal before the difference");
  await named(page, "to-difference").click();
  assert.equal(await sample(page), 4);
  const [moved, kept] = await at();
  assert.ok(Math.abs(moved![0]! - longer![0]!) > 0.05, "the second run has moved sideways");
  assert.ok(Math.abs(kept![0]! - shorter![0]!) < 0.01, "the first has not");
  const mark = (await named(page, "difference-mark").boundingBox())!;
  const slider = (await named(page, "time").boundingBox())!;
  assert.ok(Math.abs(mark.x + mark.width / 2 - (slider.x + 8 + ((slider.width - 16) * 4) / 12)) < 1);
  await page.keyboard.press("Home");
  await page.keyboard.press("d");
  assert.equal(await sample(page), 4);
  await page.keyboard.press("End"); // the shorter run has ended
  assert.equal(await named(page, "figures-main").locator('[data-name="step"]').textContent(), "12 of 12");
  assert.equal(await named(page, "figures-other").locator('[data-name="step"]').textContent(), "10 of 10");
  assert.match((await named(page, "plot-contacts").locator("canvas").getAttribute("aria-label"))!, /2: contacts 5, 1: contacts 5/);
  assert.deepEqual(problems, []);
});

check("one camera shows both runs", async () => {
  const { page } = await open(pages.browser, path);
  for (const name of ["picture", "other-picture"]) {
    const canvas = (await named(page, name).boundingBox())!;
    const eyes = (): Promise<number[][]> => page.evaluate(() => globalThis.eipcViewer!.pictures().map(({ stage }) => [...stage.view.eye]));
    const [before] = await eyes();
    await page.mouse.move(canvas.x + 100, canvas.y + 150);
    await page.mouse.down();
    await page.mouse.move(canvas.x + 180, canvas.y + 170, { steps: 4 });
    await page.mouse.up();
    const [main, other] = await eyes();
    assert.ok(Math.hypot(...main!.map((value, k) => value - before![k]!)) > 0.1, `${name} was turned`);
    main!.forEach((value, k) => { assert.ok(Math.abs(value - other![k]!) < 1e-9); });
  }
});

check("equal runs are said to be the same", async () => {
  const { page } = await open(pages.browser, equal);
  assert.match((await named(page, "difference").textContent())!, /are the same/);
  assert.equal(await named(page, "difference-mark").count(), 0);
});
