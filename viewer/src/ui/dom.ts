type Attributes = Readonly<Record<string, string>>;

// An element with attributes and children; text stays text.
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function button(label: string, text: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element("button", { type: "button", "aria-label": label, title: label, ...attributes }, text);
  made.addEventListener("click", onClick);
  return made;
}

// A button that is on or off.
export class Toggle {
  readonly element: HTMLButtonElement;

  constructor(label: string, text: string, private on: boolean, private readonly onChange: (on: boolean) => void, name: string) {
    this.element = button(label, text, () => { this.set(!this.on); }, { "data-name": name });
    this.element.setAttribute("aria-pressed", String(on));
  }

  set(on: boolean): void {
    this.on = on;
    this.element.setAttribute("aria-pressed", String(on));
    this.onChange(on);
  }

  flip(): void {
    if (!this.element.disabled) this.set(!this.on);
  }

  // Shows a state that came about elsewhere.
  show(on: boolean): void {
    this.on = on;
    this.element.setAttribute("aria-pressed", String(on));
  }
}

export function select(label: string, options: readonly (readonly [string, string])[], value: string,
                       onChange: (value: string) => void): HTMLSelectElement {
  const made = element("select", { "aria-label": label, title: label });
  for (const [key, text] of options) made.append(element("option", { value: key }, text));
  made.value = value;
  made.addEventListener("change", () => { onChange(made.value); });
  return made;
}
