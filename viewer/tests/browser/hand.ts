import type { Page } from "playwright-core";
import { named } from "./browser.js";

export interface Point {
  readonly x: number; // CSS pixels of the page
  readonly y: number;
}

// A place on the vertical arrow of the hand that is driven, and the same `higher` metres above it.
export async function upArrow(page: Page, higher: number): Promise<[Point, Point]> {
  const canvas = (await named(page, "picture").boundingBox())!;
  const shares = await page.evaluate((rise) => {
    const { stage } = globalThis.eipcViewer!.picture;
    const at = globalThis.eipcConsole!.page!.drive!.pose!.position.clone();
    const onScreen = (z: number): [number, number] => {
      const p = at.clone().setZ(z).project(stage.camera);
      return [(p.x + 1) / 2, (1 - p.y) / 2];
    };
    // The arrow's length on the screen does not depend on the distance: a point of it at the size that the controls draw it.
    const factor = at.distanceTo(stage.camera.position) * Math.min((1.9 * Math.tan((Math.PI * stage.camera.fov) / 360)) / stage.camera.zoom, 7);
    const arrow = at.z + 0.25 * 0.9 * factor * 0.4;
    return [onScreen(arrow), onScreen(arrow + rise)];
  }, higher);
  const [from, to] = shares.map(([x, y]) => ({ x: canvas.x + x * canvas.width, y: canvas.y + y * canvas.height }));
  return [from!, to!];
}
