import assert from "node:assert/strict";
import type { CDPSession, Page } from "playwright-core";
import { named } from "./browser.js";
import { upArrow, type Point } from "./hand.js";
import { drawn, LiveTests, openLive } from "./live_server.js";

// Driving by fingers on the screen and by a gamepad; by mouse and keys in live.test.ts. The inner sides of the plates
// of the scene are at y = -40 and 40 mm, the cube's sides at -25 and 25 mm.
const tests = new LiveTests();
const { check } = tests;

// From the start of the scene, with the hand taken.
async function takeHold(page: Page): Promise<void> {
  await drawn(page);
  await named(page, "session-reset").click();
  await page.waitForFunction(() => document.querySelector('[data-name="step"]')?.textContent === "0");
  await named(page, "drive").click();
  await page.waitForFunction(() => globalThis.eipcConsole!.page!.drive!.pose !== null);
}

interface Seen {
  readonly hand: readonly [number, number, number]; // m, commanded
  readonly closing: number; // m, commanded
  readonly plate: readonly [number, number, number]; // m, where the left one is
  readonly samples: number;
}

const seen = (page: Page): Promise<Seen> => page.evaluate(() => {
  const { drive, recording } = globalThis.eipcConsole!.page!;
  const { position, closing } = drive!.pose!;
  const { samples, bodies, positions } = recording!;
  const at = 3 * ((samples - 1) * bodies.length + bodies.findIndex(({ name }) => name === "left"));
  return { hand: [position.x, position.y, position.z], closing, plate: [positions[at]!, positions[at + 1]!, positions[at + 2]!], samples };
});
const eye = (page: Page): Promise<number[]> => page.evaluate(() => [...globalThis.eipcViewer!.picture.stage.view.eye]);

// Waits for observations of some more steps.
async function stepsLater(page: Page, steps: number): Promise<Seen> {
  const { samples } = await seen(page);
  await page.waitForFunction((wanted) => globalThis.eipcConsole!.page!.recording!.samples >= wanted, samples + steps);
  return seen(page);
}

const finger = (session: CDPSession, type: "touchStart" | "touchMove" | "touchEnd", ...at: Point[]): Promise<unknown> =>
  session.send("Input.dispatchTouchEvent", { type, touchPoints: at.map(({ x, y }) => ({ x, y })) });

check("a finger on the hand's arrow lifts the gripper, and does not turn the camera", async () => {
  const { page, problems } = await openLive(tests.browser, tests.server.sessionUrl, true);
  await takeHold(page);
  const before = await seen(page);
  const camera = await eye(page);
  const [from, to] = await upArrow(page, 0.03);
  const touch = await page.context().newCDPSession(page);
  await finger(touch, "touchStart", from);
  for (let i = 1; i <= 10; i++) await finger(touch, "touchMove", { x: from.x + ((to.x - from.x) * i) / 10, y: from.y + ((to.y - from.y) * i) / 10 });
  await finger(touch, "touchEnd");
  await page.waitForFunction((z) => globalThis.eipcConsole!.page!.drive!.pose!.position.z > z + 0.02, before.hand[2]);
  const lifted = await stepsLater(page, 20); // the command has been reached
  assert.ok(Math.abs(lifted.hand[0] - before.hand[0]) + Math.abs(lifted.hand[1] - before.hand[1]) < 1e-6, "the arrow moves the hand along itself only");
  assert.ok(Math.abs(lifted.hand[2] - before.hand[2] - 0.03) < 0.006, `the hand follows the finger: ${lifted.hand[2] - before.hand[2]} m of 0.03 m`);
  assert.ok(Math.abs(lifted.plate[2] - before.plate[2] - (lifted.hand[2] - before.hand[2])) < 1e-4, "the plates go where they are commanded");
  assert.deepEqual(await eye(page), camera);
  assert.deepEqual(problems, []);
});

check("a finger beside the hand turns the camera, and moves no gripper", async () => {
  const { page } = await openLive(tests.browser, tests.server.sessionUrl, true);
  await takeHold(page);
  const before = await seen(page);
  const camera = await eye(page);
  const canvas = (await named(page, "picture").boundingBox())!;
  const touch = await page.context().newCDPSession(page);
  const at = (dx: number): Point => ({ x: canvas.x + 40 + dx, y: canvas.y + 60 });
  await finger(touch, "touchStart", at(0));
  for (const dx of [20, 40, 60, 80]) await finger(touch, "touchMove", at(dx));
  await finger(touch, "touchEnd");
  await page.waitForFunction((start) => Math.hypot(...globalThis.eipcViewer!.picture.stage.view.eye.map((value, k) => value - start[k]!)) > 0.02, camera);
  assert.deepEqual((await stepsLater(page, 5)).hand, before.hand);
});

check("a finger that holds Close closes the gripper until it is taken away", async () => {
  const { page } = await openLive(tests.browser, tests.server.sessionUrl, true);
  await takeHold(page);
  const before = await seen(page);
  const button = (await named(page, "hold-n").boundingBox())!;
  const touch = await page.context().newCDPSession(page);
  await finger(touch, "touchStart", { x: button.x + button.width / 2, y: button.y + button.height / 2 });
  await page.waitForFunction(() => globalThis.eipcConsole!.page!.drive!.pose!.closing > 0.01);
  await finger(touch, "touchEnd");
  const let_go = await stepsLater(page, 3);
  assert.ok(let_go.plate[1] > before.plate[1] + 0.009, "the left plate moves towards the middle");
  assert.equal((await stepsLater(page, 10)).closing, let_go.closing);
});

// In the page: what the gamepad that tests hold is like, and how it was last made to shake.
declare global {
  var madePad: { axes: number[]; buttons: { value: number }[]; connected: boolean; shakes: number[] };
}

async function openWithGamepad(): Promise<{ page: Page; problems: string[] }> {
  const opened = await openLive(tests.browser, tests.server.url);
  await opened.page.addInitScript(() => {
    const shakes: number[] = [];
    globalThis.madePad = { axes: [0, 0, 0, 0], buttons: Array.from({ length: 17 }, () => ({ value: 0 })), connected: true, shakes };
    Object.assign(globalThis.madePad, { vibrationActuator: { playEffect: async (_: string, { strongMagnitude }: { strongMagnitude: number }) => { shakes.push(strongMagnitude); return Promise.resolve("complete"); } } });
    Object.defineProperty(navigator, "getGamepads", { value: () => [null, globalThis.madePad] });
  });
  await opened.page.goto(tests.server.sessionUrl);
  await takeHold(opened.page);
  return opened;
}

const setPad = (page: Page, change: { axes?: number[]; trigger?: [number, number] }): Promise<void> => page.evaluate(({ axes, trigger }) => {
  if (axes) globalThis.madePad.axes = axes;
  if (trigger) globalThis.madePad.buttons[trigger[0]]!.value = trigger[1];
}, change);

check("sticks of a gamepad move and turn the hand as the camera sees it", async () => {
  const { page, problems } = await openWithGamepad();
  const start = await seen(page);
  await setPad(page, { axes: [0.1, -0.1, 0.1, 0.1] }); // let go: sticks rest near the middle
  assert.deepEqual((await stepsLater(page, 5)).hand, start.hand);
  await setPad(page, { axes: [0, 0, 0, -1] });
  await page.waitForFunction((z) => globalThis.eipcConsole!.page!.drive!.pose!.position.z > z + 0.01, start.hand[2]);
  await setPad(page, { axes: [0, 0, 0, 0] });
  const up = await stepsLater(page, 10);
  assert.ok(up.plate[2] > start.plate[2] + 0.009, "up, and the plates with it");
  await setPad(page, { axes: [1, 0, 0, 0] });
  await page.waitForFunction(([x, y]) => { const { position } = globalThis.eipcConsole!.page!.drive!.pose!; return Math.hypot(position.x - x!, position.y - y!) > 0.01; }, [up.hand[0], up.hand[1]]);
  await setPad(page, { axes: [0, 0, 0, 0] });
  const aside = await stepsLater(page, 10);
  const alongScreen = await page.evaluate(([from, to]) => {
    const { camera } = globalThis.eipcViewer!.picture.stage;
    const direction = camera.position.clone().set(to[0] - from[0], to[1] - from[1], to[2] - from[2]).normalize();
    return direction.dot(camera.position.clone().setFromMatrixColumn(camera.matrixWorld, 0));
  }, [up.hand, aside.hand] as const);
  assert.ok(alongScreen > 0.999, `to the right of the picture: ${alongScreen}`);
  const turned = (): Promise<number> => page.evaluate(() => { const { rotation } = globalThis.eipcConsole!.page!.drive!.pose!; return 2 * Math.atan2(rotation.z, rotation.w); });
  assert.ok(Math.abs(await turned()) < 1e-9);
  await setPad(page, { axes: [0, 0, 1, 0] });
  await page.waitForFunction(() => globalThis.eipcConsole!.page!.drive!.pose!.rotation.z > 0.05);
  await setPad(page, { axes: [0, 0, 0, 0] });
  assert.ok((await turned()) > 0.1);
  assert.deepEqual(problems, []);
});

check("triggers of a gamepad close and open, and it shakes with the force of the contact", async () => {
  const { page } = await openWithGamepad();
  const start = await seen(page);
  assert.equal(await page.evaluate(() => Math.max(...globalThis.madePad.shakes)), 0, "nothing is touched");
  await setPad(page, { trigger: [7, 1] });
  await page.waitForFunction(() => globalThis.madePad.shakes.at(-1)! > 0.2);
  await setPad(page, { trigger: [7, 0] });
  const closed = await stepsLater(page, 5);
  assert.ok(closed.plate[1] - start.plate[1] > 0.014, `the plates have come to the cube, 15 mm away: ${closed.plate[1] - start.plate[1]} m`);
  await setPad(page, { trigger: [6, 1] });
  await page.waitForFunction(() => globalThis.madePad.shakes.at(-1) === 0);
  await setPad(page, { trigger: [6, 0] });
  assert.ok((await stepsLater(page, 5)).plate[1] < closed.plate[1]);
});

check("a gamepad that is not connected is not read", async () => {
  const { page } = await openWithGamepad();
  await page.evaluate(() => { globalThis.madePad.connected = false; });
  const start = await seen(page);
  await setPad(page, { axes: [1, 1, 1, 1], trigger: [7, 1] });
  const later = await stepsLater(page, 10);
  assert.deepEqual([later.hand, later.closing], [start.hand, start.closing]);
});
