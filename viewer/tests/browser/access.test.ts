import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { launch, makePage, named, open, sample, PageTests } from "./browser.js";

const pages = new PageTests((path) => { makePage(path("made.html")); });
const { check } = pages;
const path = pages.path("made.html");
const pressed = (page: Page, name: string): Promise<string | null> => named(page, name).getAttribute("aria-pressed");
const theme = (page: Page): Promise<string | undefined> => page.evaluate(() => document.documentElement.dataset["theme"]);

check("everything is done by the keyboard", async () => {
  const { page } = await open(pages.browser, path);
  const press = async (...keys: string[]): Promise<void> => { for (const key of keys) await page.keyboard.press(key); };
  await press(".", ".", "ArrowRight", ",");
  assert.equal(await sample(page), 2);
  await press("End");
  assert.equal(await sample(page), 50);
  await press("Home", "]", "]", "[");
  assert.equal(await sample(page), 0);
  assert.equal(await page.evaluate(() => globalThis.eipcViewer!.player.speed), 2);
  await press("l", "f", "c", "g", "t");
  assert.deepEqual([await pressed(page, "loop"), await pressed(page, "forces"), await pressed(page, "cage"), await pressed(page, "grid"), await theme(page)],
                   ["true", "false", "true", "false", "dark"]);
  await press("Space");
  await page.waitForFunction(() => globalThis.eipcViewer!.player.sample > 1);
  await press("Space");
  assert.equal(await page.evaluate(() => globalThis.eipcViewer!.player.playing), false);
  await press("?");
  assert.equal(await page.locator("dialog").isVisible(), true);
  await press("Escape");
  assert.equal(await page.locator("dialog").isVisible(), false);
});

check("arrow keys turn the camera while the picture has the focus", async () => {
  const { page } = await open(pages.browser, path);
  const view = (): Promise<{ eye: readonly number[]; target: readonly number[] }> => page.evaluate(() => globalThis.eipcViewer!.picture.stage.view);
  await named(page, "picture").focus();
  const start = await view();
  await page.keyboard.press("ArrowRight");
  const turned = await view();
  assert.equal(await sample(page), 0);
  const heading = ({ eye, target }: typeof start): number => Math.atan2(eye[1]! - target[1]!, eye[0]! - target[0]!);
  assert.ok(Math.abs(heading(turned) - heading(start) - Math.PI / 36) < 1e-6);
  await page.keyboard.press("Shift+ArrowUp");
  const moved = await view();
  assert.ok(moved.target[2]! > turned.target[2]!);
  await page.keyboard.press("+");
  const distance = ({ eye, target }: typeof start): number => Math.hypot(...eye.map((value, k) => value - target[k]!));
  assert.ok(Math.abs(distance(await view()) - distance(moved) / 1.15) < 1e-6);
  await page.keyboard.press("r");
  (await view()).eye.forEach((value, k) => { assert.ok(Math.abs(value - start.eye[k]!) < 1e-9); });
});

check("the tab key reaches every control, each with a name", async () => {
  const { page } = await open(pages.browser, path);
  const controls = await page.locator("button:visible:enabled, select:visible, input:visible, summary, canvas[tabindex='0']").count();
  const reached = new Set<string>();
  for (let i = 0; i < controls + 3; i++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const active = document.activeElement!;
      return active === document.body ? "" : `${active.tagName} ${active.getAttribute("aria-label") ?? active.textContent}`;
    }));
  }
  reached.delete("");
  assert.equal(reached.size, controls);
  const unnamed = await page.locator("button, select, input, canvas").evaluateAll((all) => all.filter((one) => !one.getAttribute("aria-label")).map((one) => one.outerHTML));
  assert.deepEqual(unnamed, []);
});

check("dark and light follow the system until one is chosen", async () => {
  const { page } = await open(pages.browser, path, "", { colorScheme: "dark" });
  assert.equal(await theme(page), "dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.waitForFunction(() => document.documentElement.dataset["theme"] === "light");
  await named(page, "theme").click();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => matchMedia("(prefers-color-scheme: dark)").matches);
  await page.emulateMedia({ colorScheme: "light" });
  await page.waitForFunction(() => !matchMedia("(prefers-color-scheme: dark)").matches);
  assert.equal(await theme(page), "dark");
});

check("a phone shows all controls and works by touch", async () => {
  const { page, problems } = await open(pages.browser, path, "", { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  for (const box of await page.locator("header button, header select, footer button, footer input, footer select").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect))) {
    assert.ok(box.left >= 0 && box.right <= 390 && box.height >= 28, JSON.stringify(box));
  }
  await named(page, "on").tap();
  assert.equal(await sample(page), 1);
  const before = await page.evaluate(() => [...globalThis.eipcViewer!.picture.stage.view.eye]);
  const canvas = (await named(page, "picture").boundingBox())!;
  const touch = await page.context().newCDPSession(page);
  const at = (dx: number): { x: number; y: number }[] => [{ x: canvas.x + 100 + dx, y: canvas.y + 120 }];
  await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: at(0) });
  for (const dx of [20, 40, 60, 80]) await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: at(dx) });
  await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await page.waitForFunction((start) => Math.hypot(...globalThis.eipcViewer!.picture.stage.view.eye.map((value, k) => value - start[k]!)) > 0.03, before);
  assert.deepEqual(problems, []);
});

// A page whose recording is other text.
function altered(name: string, change: (text: string) => string): string {
  const page = readFileSync(path, "utf8");
  const to = pages.path(name);
  writeFileSync(to, page.replace(/(id="recording">)([^<]*)(<)/, (_, open: string, data: string, close: string) => open + change(data) + close));
  return to;
}

check("what is wrong with a recording is said in words", async () => {
  const cases: [string, (text: string) => string, RegExp][] = [
    ["none.html", () => "", /carries no recording/],
    ["garbled.html", () => "%%%", /damaged/],
    ["cut.html", (data) => data.slice(0, 4000), /cut short/],
    ["other.html", () => "H4sIAAAAAAAAA0vLz09KLAIAlR/2ngYAAAA=", /damaged|no recording/],
  ];
  for (const [name, change, words] of cases) {
    const { page } = await open(pages.browser, altered(name, change));
    assert.match((await page.locator("[role=alert]").textContent())!, words);
  }
});

check("a browser without WebGL gets a message", async () => {
  const plain = await launch(["--disable-webgl", "--disable-webgl2", "--disable-3d-apis"]);
  try {
    const { page } = await open(plain, path);
    assert.match((await page.locator("[role=alert]").textContent())!, /no WebGL 2/);
  } finally {
    await plain.close();
  }
});
