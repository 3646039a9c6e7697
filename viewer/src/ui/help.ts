import { button, element } from "./dom.js";

const KEYS: readonly (readonly [string, string])[] = [
  ["Space", "play or pause"],
  [", .  or  ← →", "one step back or on"],
  ["Home End", "to the start or the end"],
  ["[ ]", "slower or faster"],
  ["l", "play again from the start at the end"],
  ["f", "force arrows"],
  ["c", "cages"],
  ["g", "grid"],
  ["b", "see through bodies other than the one whose forces are shown"],
  ["v", "colours of surfaces: the next of the list"],
  ["o", "points that contact forces act on"],
  ["r", "camera as at the start"],
  ["p", "save the picture as PNG"],
  ["k", "copy a link to this time and camera"],
  ["d", "the first difference of two runs"],
  ["t", "dark or light"],
  ["?", "this list"],
  ["In the picture: arrows", "turn the camera; with Shift, move it"],
  ["In the picture: + −", "nearer or farther"],
];

// Of a session that goes on; the hand's while it is driven.
const LIVE_KEYS: readonly (readonly [string, string])[] = [
  ["Enter", "to the present"],
  ["Escape", "to the list of sessions"],
  ["w s  a d  e q", "the hand away and near, left and right, up and down"],
  ["z x  y h  u j", "turn the hand about the vertical, tilt it away and near, roll it left and right"],
  ["n m", "close and open the fingers"],
];

// The list of keys, in a dialog.
export function makeHelp(live: boolean): HTMLDialogElement {
  const list = element("dl", { class: "keylist" });
  for (const [keys, what] of live ? [...KEYS, ...LIVE_KEYS] : KEYS) list.append(element("div", {}, element("dt", {}, keys), element("dd", {}, what)));
  const dialog = element("dialog", { "aria-label": "Keys" }, element("h2", {}, "Keys"), list,
    element("p", {}, "Mouse: drag turns, the right button moves, the wheel comes nearer. Touch: one finger turns, two move and zoom."));
  dialog.append(button("Close the list of keys", "Close", () => { dialog.close(); }));
  return dialog;
}
