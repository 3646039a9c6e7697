import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { named, scratchFolder, VIEWER } from "./browser.js";
import { upArrow } from "./hand.js";
import { drawn, LiveServer, LiveTests, openLive } from "./live_server.js";

const tests = new LiveTests();
const { check } = tests;
const stepShown = async (page: Page): Promise<number> => Number(await named(page, "step").textContent());
const waitForStep = (page: Page, step: number): Promise<unknown> =>
  page.waitForFunction((wanted) => Number(document.querySelector('[data-name="step"]')?.textContent) === wanted, step);

check("a session is found, watched as it goes on, and scrubbed", async () => {
  const { page, problems } = await openLive(tests.browser, tests.server.url);
  await named(page, `watch ${tests.server.session}`).click();
  await drawn(page);
  assert.equal(await page.locator("h1").textContent(), "small grasp");
  const { step } = await tests.server.ask("step 5");
  await waitForStep(page, Number(step));
  await page.keyboard.press(",");
  assert.equal(await named(page, "follow").getAttribute("aria-pressed"), "false");
  const back = await stepShown(page);
  assert.ok(back < Number(step));
  await tests.server.ask("step 2");
  await page.waitForFunction((n) => globalThis.eipcViewer!.player.sample < globalThis.eipcConsole!.page!.recording!.samples - 1 && n >= 0, back);
  assert.equal(await stepShown(page), back);
  await named(page, "follow").click();
  await waitForStep(page, Number(step) + 2);
  await named(page, "home").click();
  await named(page, `watch ${tests.server.session}`).waitFor();
  assert.deepEqual(problems, []);
});

check("a session that does not exist is reported, with a link back", async () => {
  const { page } = await openLive(tests.browser, `${tests.server.url}?session=sessions/none`);
  assert.match((await page.getByRole("alert").textContent())!, /not there any more/);
  await named(page, "home").click();
  await named(page, "sessions").waitFor();
});

check("run takes steps in real time until it is pressed again", async () => {
  const { page } = await openLive(tests.browser, tests.server.sessionUrl);
  await drawn(page);
  const before = await stepShown(page);
  await named(page, "run").click();
  await page.waitForFunction((from) => Number(document.querySelector('[data-name="step"]')?.textContent) > from + 10, before);
  await named(page, "run").click();
  assert.equal(await named(page, "run").getAttribute("aria-pressed"), "false");
});

check("reset, snapshot and undo", async () => {
  const { page } = await openLive(tests.browser, tests.server.sessionUrl);
  await drawn(page);
  await named(page, "session-reset").click();
  await waitForStep(page, 0);
  await tests.server.ask("step 3");
  await named(page, "snapshot").click();
  await page.waitForFunction(() => document.querySelector("footer .status")?.textContent.startsWith("Kept step 3"));
  const kept = await tests.server.ask("state");
  await tests.server.ask("step 4");
  await waitForStep(page, 7);
  await named(page, "undo").click();
  await waitForStep(page, 3);
  assert.deepEqual(await tests.server.ask("state"), kept);
});

check("fingers are dragged, closed and recorded, and the recording replays bit for bit", async () => {
  const { page, problems } = await openLive(tests.browser, tests.server.sessionUrl);
  await drawn(page);
  await named(page, "session-reset").click();
  await waitForStep(page, 0);
  const session = page.url();
  await named(page, "record").click();
  await page.waitForURL((url) => url.href !== session);
  await drawn(page);
  await addPressingOf(page);
  await page.locator(".drive summary").click();
  await named(page, "force-limit").fill("6");
  await named(page, "drive").click();
  // Closes until a plate presses as hard as it may, and no further; then lifts by dragging the arrow that points up.
  await page.keyboard.down("n");
  await page.waitForFunction(() => pressingOf("left") >= 6);
  await page.keyboard.up("n");
  await dragUp(page);
  await page.waitForFunction(() => globalThis.eipcConsole!.page!.drive!.pose!.position.z > 0.06);
  await page.waitForFunction(() => {
    const { recording } = globalThis.eipcConsole!.page!;
    return recording!.positions[3 * (recording!.samples - 1) * recording!.bodies.length + 2]! > 0.045; // the cube, first of the bodies
  });
  await named(page, "drive").click();
  const [download] = await Promise.all([page.waitForEvent("download"), named(page, "save-recording").click()]);
  const saved = tests.path("demonstration.eipcrec");
  await download.saveAs(saved);
  assert.ok(readFileSync(saved).length > 1000);
  const eipc = process.env["EIPC_CLI"] ?? join(VIEWER, "../build/release/bin/eipc");
  if (existsSync(eipc)) assert.match(execFileSync(eipc, ["verify", saved], { encoding: "utf8" }), /verified|same|match/i);
  assert.deepEqual(problems, []);
});

// In the page: the normal force on a plate at present, N.
declare function pressingOf(body: string): number;
async function addPressingOf(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.assign(globalThis, { pressingOf: (body: string): number => {
      const { recording } = globalThis.eipcConsole!.page!;
      const { pairs, forces, samples } = recording!;
      const pair = pairs.findIndex((found) => found.on === body && found.by === "cube");
      return pair < 0 ? 0 : Math.hypot(...forces.normal.subarray(3 * ((samples - 1) * pairs.length + pair), 3 * ((samples - 1) * pairs.length + pair + 1)));
    } });
  });
}

// Drags the vertical arrow of the hand by the mouse.
async function dragUp(page: Page): Promise<void> {
  const [from, to] = await upArrow(page, 0.04);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 12 });
  await page.mouse.up();
}

check("surfaces take the colours of what is observed, once they are asked for", async () => {
  const { page, problems } = await openLive(tests.browser, tests.server.sessionUrl);
  await drawn(page);
  const felt = (): Promise<{ tractions: boolean; stresses: boolean }> => page.evaluate(() => {
    const { touch, samples, bodies } = globalThis.eipcConsole!.page!.recording!;
    const any = (of: (body: number) => unknown): boolean => bodies.some((body) => of(body.index) !== null);
    return { tractions: any((body) => touch.tractions(body, samples - 1)), stresses: any((body) => touch.stresses(body, samples - 1)) };
  });
  assert.deepEqual(await felt(), { tractions: false, stresses: false });
  const wait = (tractions: boolean, stresses: boolean): Promise<unknown> => page.waitForFunction((wanted) => {
    const { touch, samples, bodies } = globalThis.eipcConsole!.page!.recording!;
    const any = (of: (body: number) => unknown): boolean => bodies.some((body) => of(body.index) !== null);
    return any((body) => touch.tractions(body, samples - 1)) === wanted[0] && any((body) => touch.stresses(body, samples - 1)) === wanted[1];
  }, [tractions, stresses]);
  await named(page, "heat").selectOption("pressure");
  await wait(true, false);
  await tests.server.ask("step 1");
  await page.waitForFunction(() => /contact pressure: 0 .*Pa and more/.test(document.querySelector('[data-name="heat-scale"]')?.textContent ?? ""));
  await named(page, "heat").selectOption("stress");
  await wait(false, true);
  await named(page, "heat").selectOption("");
  await wait(false, false);
  assert.deepEqual(problems, []);
});

check("the page goes on when the server has started again", async () => {
  const { page } = await openLive(tests.browser, tests.server.sessionUrl);
  await drawn(page);
  const { step } = await tests.server.ask("step 1");
  await waitForStep(page, Number(step));
  await tests.server.ask("restart");
  await page.waitForFunction(() => globalThis.eipcConsole!.connection.state === "open");
  const again = await tests.server.ask("step 1");
  await waitForStep(page, Number(again["step"]));
});

check("several worlds are tiles, each leads to its world", async () => {
  const folder = scratchFolder();
  const many = await LiveServer.start(join(folder.path, "state"), 4);
  try {
    const { page, problems } = await openLive(tests.browser, many.url);
    await named(page, `tiles ${many.session}`).click();
    await many.ask("step 3");
    await page.waitForFunction(() => [0, 1, 2, 3].every((world) => document.querySelector(`[data-name="tile ${world}"]`)?.textContent === `world ${world}, 0.03 s`));
    await named(page, "tile 2").click();
    await waitForStep(page, 3);
    assert.equal(await named(page, "world").inputValue(), "2");
    await page.goBack();
    await named(page, "tile 3").waitFor();
    assert.deepEqual(problems, []);
  } finally {
    await many.stop();
    folder.remove();
  }
});
