import { Color } from "three";

export type Theme = "light" | "dark";

let chosen: Theme | null = null; // for all that this document shows

// Dark or light as the system says, until the person chooses.
export class Themes {
  private readonly system = matchMedia("(prefers-color-scheme: dark)");
  private readonly ended = new AbortController();

  constructor(private readonly onChange: () => void) {
    this.system.addEventListener("change", () => { this.apply(); }, { signal: this.ended.signal });
  }

  // What changes with the theme is not shown any more.
  end(): void {
    this.ended.abort();
  }

  get current(): Theme {
    return chosen ?? (this.system.matches ? "dark" : "light");
  }

  flip(): void {
    chosen = this.current === "dark" ? "light" : "dark";
    this.apply();
  }

  apply(): void {
    document.documentElement.dataset["theme"] = this.current;
    this.onChange();
  }
}

// Those of the picture.
export function pictureColors(): { readonly sky: Color; readonly grid: Color; readonly ground: Color } {
  const color = (name: string): Color => new Color(cssColor(name));
  return { sky: color("sky"), grid: color("grid"), ground: color("ground") };
}

// The value of one of the page's colours (style.css).
export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
