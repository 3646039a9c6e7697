import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { named, PageTests, VIEWER } from "./browser.js";
import { upArrow } from "./hand.js";
import { drawn, LiveServer, openLive, SKIP } from "./live_server.js";

// The grasp of the demo, by hand.
const pages = new PageTests(() => undefined);
const MESH = join(VIEWER, "../models/generated/teddy_surface.obj");
const NO_SCENE: string | false = SKIP !== false ? SKIP : existsSync(MESH) ? false : `there is no ${MESH} (./dev build)`;
const EIPC = process.env["EIPC_CLI"] ?? join(VIEWER, "../build/release/bin/eipc");

// In the page: the normal forces of the pads on the bear at present, N, and where it is.
declare function pads(): number[];
declare function bear(): number;
const addFigures = (page: Page): Promise<void> => page.evaluate(() => {
  Object.assign(globalThis, {
    pads: (): number[] => {
      const { pairs, forces, samples } = globalThis.eipcConsole!.page!.recording!;
      return pairs.flatMap(({ on, by }, pair) => {
        const at = 3 * ((samples - 1) * pairs.length + pair);
        return on === "teddy" && by.startsWith("bubble") ? [Math.hypot(...forces.normal.subarray(at, at + 3))] : [];
      });
    },
    bear: (): number => {
      const recording = globalThis.eipcConsole!.page!.recording!;
      return recording.positions[3 * ((recording.samples - 1) * recording.bodies.length + recording.bodyIndex("teddy")) + 2]!;
    },
  });
});

test("a drag lifts the bear, and the recording replays bit for bit and becomes an episode", { skip: NO_SCENE }, async () => {
  const server = await LiveServer.start(pages.path("state"), 1, undefined, "teddy");
  try {
    const { page, problems } = await openLive(pages.browser, server.sessionUrl);
    await drawn(page);
    const session = page.url();
    await named(page, "record").click();
    await page.waitForURL((url) => url.href !== session);
    await drawn(page);
    await addFigures(page);
    const low = await page.evaluate(() => bear());
    await named(page, "drive").click();
    await page.keyboard.down("n");
    // A drag starts at the hand's full speed: pads that press with 6 N lose the bear every other time.
    await page.waitForFunction(() => pads().length === 2 && Math.min(...pads()) > 15);
    await page.keyboard.up("n");
    const [from, to] = await upArrow(page, 0.05);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 12 });
    await page.mouse.up();
    await page.waitForFunction((z) => bear() > z + 0.025, low);
    await named(page, "drive").click();
    const saved = pages.path("lift.eipcrec");
    const [download] = await Promise.all([page.waitForEvent("download"), named(page, "save-recording").click()]);
    await download.saveAs(saved);
    assert.deepEqual(problems, []);
    if (!existsSync(EIPC)) return;
    assert.match(execFileSync(EIPC, ["verify", saved], { encoding: "utf8" }), /^verified/);
    assert.match(execFileSync(EIPC, ["replay", saved, `--out=${pages.path("episodes")}`], { encoding: "utf8" }), /every state the same/);
  } finally {
    for (const context of pages.browser.contexts()) await context.close();
    await server.stop();
  }
});
