import { Quaternion, Vector3 } from "three";

// How the hand is to go on, each in [-1, 1]: right, away and up as the camera sees it; turning about the vertical, tilting about what is
// to the right, rolling about what points away; closing.
export interface Wish {
  right: number;
  away: number;
  up: number;
  turn: number;
  tilt: number;
  roll: number;
  close: number;
}

const KEYS: Readonly<Record<string, readonly [keyof Wish, number]>> = {
  d: ["right", 1], a: ["right", -1], w: ["away", 1], s: ["away", -1], e: ["up", 1], q: ["up", -1], x: ["turn", 1], z: ["turn", -1], y: ["tilt", 1], h: ["tilt", -1],
  u: ["roll", -1], j: ["roll", 1], n: ["close", 1], m: ["close", -1],
};
const DEAD_ZONE = 0.15; // of a stick that is let go

export const noWish = (): Wish => ({ right: 0, away: 0, up: 0, turn: 0, tilt: 0, roll: 0, close: 0 });

// Keys that are held, and the first gamepad.
export class Inputs {
  private readonly held = new Set<string>();

  constructor(signal: AbortSignal) {
    document.addEventListener("keydown", (event) => {
      const key = event.key.toLowerCase();
      if (!(key in KEYS) || event.ctrlKey || event.metaKey || event.altKey || isText(event.target)) return;
      this.held.add(key);
    }, { signal });
    document.addEventListener("keyup", (event) => { this.held.delete(event.key.toLowerCase()); }, { signal });
    addEventListener("blur", () => { this.held.clear(); }, { signal });
  }

  // Buttons of the page that are held.
  hold(key: string, on: boolean): void {
    if (on) this.held.add(key);
    else this.held.delete(key);
  }

  read(): Wish {
    const wish = noWish();
    for (const key of this.held) {
      const [what, sign] = KEYS[key]!;
      wish[what] += sign;
    }
    const pad = firstPad();
    if (pad) {
      const axis = (index: number): number => (Math.abs(pad.axes[index] ?? 0) > DEAD_ZONE ? pad.axes[index]! : 0);
      wish.right += axis(0);
      wish.away -= axis(1);
      wish.turn += axis(2);
      wish.up -= axis(3);
      const between = (more: number, less: number): number => (pad.buttons[more]?.value ?? 0) - (pad.buttons[less]?.value ?? 0);
      wish.tilt += between(12, 13);
      wish.roll += between(15, 14);
      wish.close += between(7, 6);
    }
    return wish;
  }

  // Lets a gamepad that can be felt shake by a share of its strength.
  rumble(share: number): void {
    const pad = firstPad();
    const motor = (pad as { vibrationActuator?: GamepadHapticActuator } | null | undefined)?.vibrationActuator;
    motor?.playEffect("dual-rumble", { duration: 60, strongMagnitude: Math.min(share, 1), weakMagnitude: Math.min(share, 1) }).catch(() => undefined);
  }
}

// Pages that came over plain HTTP from another machine have no gamepads in some browsers.
function firstPad(): Gamepad | null {
  return (navigator as Partial<Pick<Navigator, "getGamepads">>).getGamepads?.().find((found) => found?.connected) ?? null;
}

// Level directions as a camera of that heading sees them, which faces the middle.
function directions(heading: number): { readonly away: Vector3; readonly right: Vector3 } {
  return { away: new Vector3(-Math.cos(heading), -Math.sin(heading), 0), right: new Vector3(-Math.sin(heading), Math.cos(heading), 0) };
}

// A wish as velocities: m per unit of speed in the world, as the camera's heading has it.
export function velocityOf(wish: Wish, heading: number): Vector3 {
  const { away, right } = directions(heading);
  return right.multiplyScalar(wish.right).addScaledVector(away, wish.away).add(new Vector3(0, 0, wish.up));
}

// A wish as a rotation, by `angle` rad for each unit.
export function turnOf(wish: Wish, angle: number, heading: number): Quaternion {
  const { away, right } = directions(heading);
  const axis = new Vector3(0, 0, wish.turn).addScaledVector(right, -wish.tilt).addScaledVector(away, wish.roll); // tilting leans away
  const size = axis.length();
  return size === 0 ? new Quaternion() : new Quaternion().setFromAxisAngle(axis.divideScalar(size), size * angle);
}

function isText(target: EventTarget | null): boolean {
  return target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type !== "range" && target.type !== "checkbox");
}
