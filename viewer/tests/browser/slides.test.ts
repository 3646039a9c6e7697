import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { named, PageTests, scratchFolder } from "./browser.js";
import { drawn, LiveServer, openLive, SKIP } from "./live_server.js";
import { test } from "node:test";

// Fingers on guides, which drives push with at most 6 N: tests/live_server.py.
const pages = new PageTests(() => undefined);

const cube = (page: Page): Promise<number> => page.evaluate(() => {
  const { recording } = globalThis.eipcConsole!.page!;
  return recording!.positions[3 * (recording!.samples - 1) * recording!.bodies.length + 2]!;
});
const words = (page: Page): Promise<string> => named(page, "drive-words").textContent().then((text) => text ?? "");

test("fingers on guides close with the force that is allowed, keep it, lift, and open", { skip: SKIP }, async () => {
  const folder = scratchFolder();
  const server = await LiveServer.start(`${folder.path}/state`, 1, undefined, "slides");
  try {
    const { page, problems } = await openLive(pages.browser, server.sessionUrl);
    await drawn(page);
    assert.equal(await named(page, "drive").isEnabled(), true);
    await page.locator(".drive summary").click();
    await named(page, "force-limit").fill("3");
    await named(page, "drive").click();
    await page.keyboard.down("n");
    await page.waitForFunction(() => (document.querySelector('[data-name="drive-words"]')!.textContent.match(/presses against something with all its force/g) ?? []).length === 2);
    await page.keyboard.up("n");
    assert.match(await words(page), /left presses against something with all its force \((2\.9\d|3\.0\d) N\)/);
    const low = await cube(page);
    await page.keyboard.down("e");
    await page.waitForFunction((z) => {
      const { recording } = globalThis.eipcConsole!.page!;
      return recording!.positions[3 * (recording!.samples - 1) * recording!.bodies.length + 2]! > z + 0.02;
    }, low);
    await page.keyboard.up("e");
    assert.match(await named(page, "hand-feels").textContent() ?? "", /^On the hand: [\d.]+ m?N, [\d.]+ .?N m; hardest press (2\.9\d|3\.0\d) N$/);
    await page.keyboard.down("m");
    await page.waitForFunction((z) => {
      const { recording } = globalThis.eipcConsole!.page!;
      return recording!.positions[3 * (recording!.samples - 1) * recording!.bodies.length + 2]! < z + 0.01;
    }, low);
    await page.keyboard.up("m");
    assert.deepEqual(problems, []);
  } finally {
    for (const context of pages.browser.contexts()) await context.close();
    await server.stop();
    folder.remove();
  }
});
