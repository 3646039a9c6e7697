export type Actions = Readonly<Record<string, () => void>>;

// Keys that hold everywhere on the page, as KeyboardEvent.key; not while a control uses the key itself, or a dialog is open, which Escape closes.
export function listenToKeys(actions: Actions, signal?: AbortSignal): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || usedBy(event.target, event.key) || document.querySelector("dialog[open]")) return;
    const action = actions[event.key] ?? actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }, signal ? { signal } : {});
}

// Keys of the picture, while it has the focus: they win over those of the page.
export function listenOn(target: HTMLElement, actions: Actions): void {
  target.addEventListener("keydown", (event) => {
    const action = actions[(event.shiftKey && event.key.startsWith("Arrow") ? "Shift+" : "") + event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
}

function usedBy(target: EventTarget | null, key: string): boolean {
  if (target instanceof HTMLButtonElement) return key === " " || key === "Enter";
  if (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return true;
  if (target instanceof HTMLInputElement && target.type !== "range" && target.type !== "checkbox") return true;
  if (target instanceof HTMLInputElement) return key.startsWith("Arrow") || key.startsWith("Page") || key === "Home" || key === "End";
  return false;
}
