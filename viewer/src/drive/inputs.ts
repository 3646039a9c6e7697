import { Quaternion, Vector3 } from "three";

// How the hand is to go on, each in [-1, 1]: right, away and up as the camera sees it; turning about the vertical; closing.
export interface Wish {
  right: number;
  away: number;
  up: number;
  turn: number;
  close: number;
}

const KEYS: Readonly<Record<string, readonly [keyof Wish, number]>> = {
  d: ["right", 1], a: ["right", -1], w: ["away", 1], s: ["away", -1], e: ["up", 1], q: ["up", -1], x: ["turn", 1], z: ["turn", -1], n: ["close", 1], m: ["close", -1],
};
const DEAD_ZONE = 0.15; // of a stick that is let go

export const noWish = (): Wish => ({ right: 0, away: 0, up: 0, turn: 0, close: 0 });

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
    const pad = navigator.getGamepads().find((found) => found?.connected);
    if (pad) {
      const axis = (index: number): number => (Math.abs(pad.axes[index] ?? 0) > DEAD_ZONE ? pad.axes[index]! : 0);
      wish.right += axis(0);
      wish.away -= axis(1);
      wish.turn += axis(2);
      wish.up -= axis(3);
      wish.close += (pad.buttons[7]?.value ?? 0) - (pad.buttons[6]?.value ?? 0);
    }
    return wish;
  }

  // Lets a gamepad that can be felt shake by a share of its strength.
  rumble(share: number): void {
    const pad = navigator.getGamepads().find((found) => found?.connected);
    const motor = (pad as { vibrationActuator?: GamepadHapticActuator } | null | undefined)?.vibrationActuator;
    motor?.playEffect("dual-rumble", { duration: 60, strongMagnitude: Math.min(share, 1), weakMagnitude: Math.min(share, 1) }).catch(() => undefined);
  }
}

// A wish as velocities: m per unit of speed in the world, as the camera's heading has it.
export function velocityOf(wish: Wish, heading: number): Vector3 {
  const away = new Vector3(-Math.cos(heading), -Math.sin(heading), 0); // the camera faces the middle
  const right = new Vector3(-Math.sin(heading), Math.cos(heading), 0);
  return right.multiplyScalar(wish.right).addScaledVector(away, wish.away).add(new Vector3(0, 0, wish.up));
}

export function turnOf(wish: Wish, angle: number): Quaternion {
  return new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), wish.turn * angle);
}

function isText(target: EventTarget | null): boolean {
  return target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type !== "range" && target.type !== "checkbox");
}
