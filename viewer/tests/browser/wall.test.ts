import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { launch, named } from "./browser.js";
import { drawn, LiveTests, openLive } from "./live_server.js";

// Several sessions on one page, and going from page to page.
const tests = new LiveTests();
const { check } = tests;

const theme = (page: Page): Promise<string | undefined> => page.evaluate(() => document.documentElement.dataset["theme"]);

check("several sessions are tiles that go on, each leads to its session", async () => {
  const { page, problems } = await openLive(tests.browser, tests.server.sessionUrl);
  await drawn(page);
  const first = page.url();
  await named(page, "fork").click();
  await page.waitForURL((url) => url.href !== first);
  await drawn(page);
  const fork = await page.evaluate(() => globalThis.eipcConsole!.page!.session);
  await named(page, "home").click();
  await named(page, "to-wall").click();
  await page.waitForFunction(() => {
    const tiles = [...globalThis.eipcConsole!.wall!.tiles.values()];
    return tiles.length === 2 && tiles.every(({ frames, picture }) => frames > 0 && (picture?.stage.drawn ?? 0) > 0);
  });
  await tests.server.ask("step 4");
  await page.waitForFunction((name) => document.querySelector(`[data-name="wall ${name}"]`)?.textContent === "small grasp, 0.04 s", tests.server.session);
  assert.equal(await named(page, `wall ${fork}`).textContent(), "small grasp, 0.00 s");
  await named(page, `wall ${fork}`).click();
  await drawn(page);
  assert.equal(await page.evaluate(() => globalThis.eipcConsole!.page!.session), fork);
  await page.goBack();
  await named(page, "wall").waitFor();
  await page.keyboard.press("Escape");
  page.on("dialog", (dialog) => { void dialog.accept(); });
  await named(page, `delete ${fork}`).click();
  await page.waitForFunction((name) => !document.querySelector(`[data-name="watch ${name}"]`), fork);
  assert.equal(await named(page, "to-wall").isVisible(), false, "one session is no choice");
  assert.deepEqual(problems, []);
});

check("a session is deleted only by who says so twice", async () => {
  const { page } = await openLive(tests.browser, tests.server.url);
  await named(page, `delete ${tests.server.session}`).waitFor();
  const asked = new Promise<string>((resolve) => { page.once("dialog", (dialog) => { resolve(dialog.message()); void dialog.dismiss(); }); });
  await named(page, `delete ${tests.server.session}`).click();
  assert.match(await asked, /what it recorded, is lost/);
  await named(page, `watch ${tests.server.session}`).click();
  await drawn(page);
});

check("a theme that was chosen stays from page to page", async () => {
  const { page } = await openLive(tests.browser, tests.server.sessionUrl, false, { colorScheme: "light" });
  await drawn(page);
  await named(page, "theme").click();
  await named(page, "home").click();
  await named(page, "sessions").waitFor();
  assert.equal(await theme(page), "dark");
  await named(page, `watch ${tests.server.session}`).click();
  await drawn(page);
  assert.equal(await theme(page), "dark");
});

check("a page that is left while it plays draws no more", async () => {
  const { page } = await openLive(tests.browser, tests.server.sessionUrl);
  await drawn(page);
  const { step } = await tests.server.ask("step 3");
  await page.waitForFunction((wanted) => Number(document.querySelector('[data-name="step"]')?.textContent) === wanted, step);
  await named(page, "loop").click();
  await named(page, "play").click();
  const left = await page.evaluateHandle(() => globalThis.eipcViewer!);
  await named(page, "home").click();
  await named(page, "sessions").waitFor();
  const frames = (): Promise<void> => page.evaluate(() => new Promise<void>((resolve) => { requestAnimationFrame(() => { requestAnimationFrame(() => { resolve(); }); }); }));
  await frames();
  const sample = await left.evaluate((app) => [app.player.sample, app.picture.stage.drawn]);
  for (let i = 0; i < 10; i++) await frames();
  assert.deepEqual(await left.evaluate((app) => [app.player.sample, app.picture.stage.drawn]), sample);
});

check("an address that names no world opens the first one", async () => {
  const { page } = await openLive(tests.browser, `${tests.server.sessionUrl}&world=none`);
  await drawn(page);
  assert.equal(await page.evaluate(() => globalThis.eipcConsole!.page!.world), 0);
});

check("where there is no gamepad to ask for, driving goes on without", async () => {
  const { page } = await openLive(tests.browser, tests.server.url);
  await page.addInitScript(() => { Object.defineProperty(navigator, "getGamepads", { value: undefined }); });
  await page.goto(tests.server.sessionUrl);
  await drawn(page);
  await named(page, "drive").click();
  await page.waitForFunction(() => globalThis.eipcConsole!.page!.drive!.pose !== null);
  await page.keyboard.down("y"); // tilts
  await page.waitForFunction(() => 1 - Math.abs(globalThis.eipcConsole!.page!.drive!.pose!.rotation.w) > 1e-4);
  await page.keyboard.up("y");
});

check("a page that the server does not take says so", async () => {
  const { page } = await openLive(tests.browser, tests.server.url);
  await page.addInitScript(() => {
    class Refused extends EventTarget {
      constructor() {
        super();
        setTimeout(() => { this.dispatchEvent(new Event("close")); }, 0);
      }
    }
    Object.assign(globalThis, { WebSocket: Refused });
  });
  await page.goto(tests.server.url);
  await page.waitForFunction(() => document.querySelector(".status")?.textContent.includes("takes no further page"));
});

check("a browser without WebGL gets a message, also for tiles", async () => {
  const plain = await launch(["--disable-webgl", "--disable-webgl2", "--disable-3d-apis"]);
  try {
    const { page } = await openLive(plain, tests.server.sessionUrl);
    assert.match((await page.locator("[role=alert]").textContent())!, /no WebGL 2/);
    await page.goto(`${tests.server.sessionUrl}&world=all`);
    await page.waitForFunction(() => document.querySelector("footer .status")?.textContent.includes("no WebGL 2"));
    await page.goto(`${tests.server.url}?sessions=all`);
    await page.waitForFunction(() => document.querySelector(".wall-tile p")?.textContent.includes("no WebGL 2"));
  } finally {
    await plain.close();
  }
});

check("arrow keys turn the camera of tiles", async () => {
  const { page } = await openLive(tests.browser, `${tests.server.sessionUrl}&world=all`);
  await page.waitForFunction(() => (globalThis.eipcConsole?.tiles?.frames ?? 0) > 0);
  const eye = (): Promise<number[]> => page.evaluate(() => [...globalThis.eipcConsole!.tiles!.picture!.stage.view.eye]);
  const before = await eye();
  await named(page, "picture").focus();
  await page.keyboard.press("ArrowRight");
  const turned = await eye();
  assert.ok(Math.hypot(...turned.map((value, k) => value - before[k]!)) > 0.005);
});
