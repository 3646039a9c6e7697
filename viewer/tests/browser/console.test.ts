import assert from "node:assert/strict";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { named, scratchFolder } from "./browser.js";
import { drawn, LiveServer, LiveTests, openLive } from "./live_server.js";

// The server's page without a mouse, on a phone, by a screen reader, and for somebody who has to sign in.
const tests = new LiveTests();
const { check } = tests;
const PHONE = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };
const TOKEN = "a token of the tests";

const focused = (page: Page): Promise<string> => page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset["name"] ?? "");

// Goes on by the tab key until the control of that name has the focus.
async function tabTo(page: Page, name: string): Promise<void> {
  for (let i = 0; i < 80; i++) {
    if (await focused(page) === name) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`the tab key does not come to ${name}`);
}

// What a screen reader says of each control: its label, or the text of the label around it.
const unnamed = (page: Page): Promise<string[]> => page.locator("button, select, input, canvas, a").evaluateAll((all) =>
  all.filter((one) => !(one.getAttribute("aria-label") ?? one.closest("label")?.textContent ?? (one instanceof HTMLAnchorElement ? one.textContent : "")).trim()).map((one) => one.outerHTML));

const stepOf = (page: Page): Promise<number> => page.evaluate(() => Number(document.querySelector('[data-name="step"]')?.textContent));

check("a session is opened, driven, kept and gone back to by the keyboard alone", async () => {
  const { page, problems } = await openLive(tests.browser, tests.server.url);
  await named(page, `watch ${tests.server.session}`).waitFor();
  await tabTo(page, `watch ${tests.server.session}`);
  await page.keyboard.press("Enter");
  await drawn(page);
  await tabTo(page, "session-reset");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector('[data-name="step"]')?.textContent === "0");
  await tabTo(page, "snapshot");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("footer .status")?.textContent.startsWith("Kept step 0"));
  const kept = await tests.server.ask("state");
  await tabTo(page, "drive");
  await page.keyboard.press("Enter");
  const hand = (): Promise<{ z: number; closing: number }> => page.evaluate(() => {
    const { position, closing } = globalThis.eipcConsole!.page!.drive!.pose!;
    return { z: position.z, closing };
  });
  await page.waitForFunction(() => globalThis.eipcConsole!.page!.drive!.pose !== null);
  const before = await hand();
  await page.keyboard.down("e");
  await page.waitForFunction((z) => globalThis.eipcConsole!.page!.drive!.pose!.position.z > z + 0.01, before.z);
  await page.keyboard.up("e");
  await tabTo(page, "hold-n"); // the button, held by the space bar
  await page.keyboard.down(" ");
  await page.waitForFunction(() => globalThis.eipcConsole!.page!.drive!.pose!.closing > 0.005);
  await page.keyboard.up(" ");
  const { closing } = await hand();
  const step = await stepOf(page);
  await page.waitForFunction((from) => Number(document.querySelector('[data-name="step"]')?.textContent) > from + 5, step);
  assert.equal((await hand()).closing, closing, "closing ends with the key");
  await tabTo(page, "undo");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector('[data-name="step"]')?.textContent === "0");
  assert.deepEqual(await tests.server.ask("state"), kept);
  await page.keyboard.press("?");
  assert.match((await page.locator("dialog").textContent())!, /close and open the fingers/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await named(page, "sessions").waitFor();
  assert.deepEqual(problems, []);
});

check("every control of the list, of a session and of its tiles has a name", async () => {
  const folder = scratchFolder();
  const many = await LiveServer.start(join(folder.path, "state"), 2);
  try {
    const { page } = await openLive(tests.browser, many.url);
    await named(page, `tiles ${many.session}`).waitFor();
    assert.deepEqual(await unnamed(page), []);
    await named(page, `tiles ${many.session}`).click();
    await named(page, "tile 1").waitFor();
    assert.deepEqual(await unnamed(page), []);
    await named(page, "tile 1").click();
    await drawn(page);
    assert.deepEqual(await unnamed(page), []);
    for (const role of ["status", "toolbar"] as const) assert.ok(await page.getByRole(role).count() > 0, `the page has no ${role}`);
  } finally {
    await many.stop();
    folder.remove();
  }
});

check("a phone drives a session by touch, with every control in reach", async () => {
  const { page, problems } = await openLive(tests.browser, tests.server.sessionUrl, true, PHONE);
  await drawn(page);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  for (const box of await page.locator("header button, header select, .drive button, footer button, footer select").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect))) {
    if (box.width > 0) assert.ok(box.left >= 0 && box.right <= 390 && box.height >= 28, JSON.stringify(box));
  }
  const step = await stepOf(page);
  await named(page, "run").tap();
  await page.waitForFunction((from) => Number(document.querySelector('[data-name="step"]')?.textContent) > from + 3, step);
  await named(page, "run").tap();
  assert.equal(await named(page, "run").getAttribute("aria-pressed"), "false");
  assert.deepEqual(problems, []);
});

check("a fork is a session of its own", async () => {
  const { page } = await openLive(tests.browser, tests.server.sessionUrl);
  await drawn(page);
  const { step, digest } = await tests.server.ask("state");
  const first = page.url();
  await named(page, "fork").click();
  await page.waitForURL((url) => url.href !== first);
  await page.waitForFunction((wanted) => Number(document.querySelector('[data-name="step"]')?.textContent) === wanted, Number(step));
  await named(page, "run").click();
  await page.waitForFunction((from) => Number(document.querySelector('[data-name="step"]')?.textContent) > from + 3, Number(step));
  await named(page, "run").click();
  assert.deepEqual(await tests.server.ask("state"), { step, digest }, "the first session stands still");
});

check("plates that are driven into the ground are said to be stopped, and how far from their command", async () => {
  const { page } = await openLive(tests.browser, tests.server.sessionUrl);
  await drawn(page);
  await named(page, "session-reset").click();
  await page.waitForFunction(() => document.querySelector('[data-name="step"]')?.textContent === "0");
  await named(page, "drive").click();
  await page.waitForFunction(() => globalThis.eipcConsole!.page!.drive!.pose !== null);
  await page.keyboard.down("q"); // into the ground
  await page.waitForFunction(() => /left.* was stopped .*m before its command: something obstructs it/.test(document.querySelector('[data-name="drive-words"]')!.textContent));
  await page.keyboard.up("q");
});

check("who has no session is asked for a token, which no address and no script gets", async () => {
  const folder = scratchFolder();
  const guarded = await LiveServer.start(join(folder.path, "state"), 1, TOKEN);
  try {
    const { page } = await openLive(tests.browser, guarded.url);
    await page.waitForFunction(() => document.activeElement instanceof HTMLElement && document.activeElement.dataset["name"] === "token");
    assert.deepEqual(await unnamed(page), []);
    await page.keyboard.type("another");
    await page.keyboard.press("Enter");
    assert.match((await page.getByRole("alert").filter({ hasText: "no such token" }).textContent())!, /Ask the administrator/);
    await named(page, "token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await named(page, `watch ${guarded.session}`).click();
    await drawn(page);
    assert.doesNotMatch(page.url(), /token/);
    assert.equal(await page.evaluate(() => document.cookie), "");
    await guarded.ask("restart"); // a server that starts again knows no browser
    await page.waitForFunction(() => document.querySelector("footer .status")?.textContent.includes("Load the page again and sign in"));
    await page.reload();
    await named(page, "token").waitFor();
  } finally {
    await guarded.stop();
    folder.remove();
  }
});
