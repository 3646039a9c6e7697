import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { makePage, named, open, pixels, PageTests } from "./browser.js";

// What the ball feels is in tests/made_recording.py.
const pages = new PageTests((path) => { makePage(path("made.html")); });
const { check } = pages;
const path = pages.path("made.html");
const FRONT = "&cam=1,0,0.05,0,0,0.05"; // y is to the right, the ball in the middle

type Color = [number, number, number];
const hue = ([r, g, b]: Color): "yellow" | "green" | "plain" => (g > 1.25 * r && g > 1.1 * b ? "green" : r > 1.8 * b && g > 1.6 * b && Math.abs(r - g) < 0.3 * r ? "yellow" : "plain");

// The colour of the ball's surface where it is seen at y, m.
async function colorAt(page: Page, y: number): Promise<Color> {
  const { width, height, data } = await pixels(page);
  const at = 4 * (Math.floor(height / 2) * width + Math.round(width / 2 + (y / (2 * Math.tan(Math.PI / 12))) * height));
  return [data[at]!, data[at + 1]!, data[at + 2]!];
}

check("contact pressure is shown where the pads press, with a scale in pascals", async () => {
  const { page, problems } = await open(pages.browser, path, `#t=0.5${FRONT}`);
  for (const part of ["forces", "grid"]) await named(page, part).click();
  // Seen from along x the pressed parts lie behind the pads, which are as wide as the ball: only the ball is shown.
  await page.evaluate(() => { for (const { stage } of globalThis.eipcViewer!.pictures()) for (const object of stage.scene.children) if (object.name.endsWith("pad")) object.visible = false; });
  const [middle, side] = [await colorAt(page, 0), await colorAt(page, 0.029)];
  assert.equal(hue(side), "plain");
  await named(page, "heat").selectOption("pressure");
  assert.equal(await named(page, "heat-scale").textContent(), "contact pressure: 0  1 kPa and more");
  assert.equal(hue(await colorAt(page, 0.029)), "yellow", "1000 Pa of 1 kPa");
  assert.deepEqual(await colorAt(page, 0), middle, "nothing presses in the middle");
  await page.keyboard.press("Home");
  assert.equal(hue(await colorAt(page, 0.036)), "plain", "nothing presses at the start");
  assert.deepEqual(problems, []);
});

check("the body whose forces are shown is seen through those before it, and only then", async () => {
  const { page } = await open(pages.browser, path, "#t=0.5&cam=0,-1,0.05,0,0,0.05"); // a pad in front, blue, presses on the ball
  for (const part of ["forces", "grid"]) await named(page, part).click();
  await named(page, "heat").selectOption("pressure");
  await named(page, "body").selectOption("ball");
  const color = (): Promise<Color> => colorAt(page, 0);
  const [, , blue] = await color();
  assert.ok(blue > 0.9 * (await color())[0], "the pad hides the ball");
  await page.keyboard.press("b");
  assert.equal(await named(page, "through").getAttribute("aria-pressed"), "true");
  const seen = await color();
  assert.ok(seen[0] > 1.3 * seen[2] && seen[1] > 1.3 * seen[2], `yellow of the pressed ball behind the pad: ${seen.join(" ")}`);
  await named(page, "body").selectOption("left pad");
  const pad = await color();
  assert.ok(pad[2] > 0.9 * pad[0], `now the pad is the body that is seen: ${pad.join(" ")}`);
  await page.keyboard.press("b");
  assert.equal(await named(page, "through").getAttribute("aria-pressed"), "false");
});

check("stress is shown everywhere, averaged at the nodes of the cage", async () => {
  const { page } = await open(pages.browser, path, `#t=0.5${FRONT}`);
  for (const part of ["forces", "grid"]) await named(page, part).click();
  await named(page, "heat").selectOption("stress");
  assert.equal(await named(page, "heat-scale").textContent(), "von Mises stress: 0  5 kPa and more");
  const values = await page.evaluate(() => {
    const { picture } = globalThis.eipcViewer!;
    const mesh = picture.stage.scene.getObjectByName("ball") as unknown as { geometry: { getAttribute: (name: string) => { array: Float32Array } } };
    const heat = mesh.geometry.getAttribute("heat").array;
    return [Math.min(...heat), Math.max(...heat)];
  });
  assert.ok(Math.abs(values[1]! * 5000 - 4000) < 100, `most: ${values[1]! * 5000} Pa`);
  assert.ok(Math.abs(values[0]! * 5000 - 2000) < 100, `least: ${values[0]! * 5000} Pa`);
});

check("contacts are marked, slips are listed, keys switch both", async () => {
  const { page } = await open(pages.browser, path, `#t=0.8${FRONT}`);
  const points = (): Promise<number> => page.evaluate(() => globalThis.eipcViewer!.picture.pointsShown);
  assert.equal(await points(), 0);
  await page.keyboard.press("o");
  const all = await points();
  assert.ok(all > 20, `${all} points`);
  const lowest = await page.evaluate(() => {
    const points = globalThis.eipcViewer!.picture.stage.scene.children.find(({ type }) => type === "Points") as unknown as { geometry: { drawRange: { count: number }; getAttribute: (name: string) => { array: Float32Array } } };
    const { geometry } = points;
    return Math.min(...Array.from({ length: geometry.drawRange.count }, (_, i) => Math.abs(geometry.getAttribute("position").array[3 * i + 1]!)));
  });
  assert.ok(lowest > 0.8 * 0.8 * 0.04 - 1e-6, "points are where the pads press, |y| over 0.8 of the flattened radius");
  await page.keyboard.press("v");
  assert.equal(await named(page, "heat").inputValue(), "pressure");
  assert.match((await named(page, "force-table").textContent())!, /left pad8\.00 N1\.50 N10\.0 mm\/s75 %/);
  assert.match((await named(page, "plot-slip").locator("canvas").getAttribute("aria-label"))!, /left pad 10\.0 mm\/s/);
  await page.keyboard.press("Home");
  assert.equal(await points(), 0);
  assert.match((await named(page, "force-table").textContent())!, /left pad0 N0 N––/);
});
