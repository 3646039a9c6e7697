const PREFIXES: readonly (readonly [number, string])[] = [
  [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"],
];

// The prefix in which a magnitude has one to three digits before its point.
export function prefixOf(magnitude: number): { factor: number; prefix: string } {
  if (magnitude === 0) return { factor: 1, prefix: "" };
  const found = PREFIXES.find(([factor]) => magnitude >= 0.9995 * factor) ?? PREFIXES[PREFIXES.length - 1]!;
  return { factor: found[0], prefix: found[1] };
}

// Three digits with a prefixed unit: 12.3 mm.
export function quantity(value: number, unit: string): string {
  if (!Number.isFinite(value)) return "–";
  const { factor, prefix } = prefixOf(Math.abs(value));
  return `${digits(value / factor)} ${prefix}${unit}`;
}

// As quantity, of a number that is round: 20 mm.
export function roundQuantity(value: number, unit: string): string {
  const { factor, prefix } = prefixOf(Math.abs(value));
  return `${Number((value / factor).toPrecision(3))} ${prefix}${unit}`;
}

// The largest of 1, 2, 5 times a power of ten that is not above `value`.
export function niceBelow(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
  const rest = value / power;
  return (rest >= 5 - 1e-9 ? 5 : rest >= 2 - 1e-9 ? 2 : 1) * power;
}

export function niceAbove(value: number): number {
  const below = niceBelow(value);
  if (!(value > below * (1 + 1e-9))) return below;
  const power = 10 ** Math.floor(Math.log10(below) + 1e-9);
  const first = Math.round(below / power);
  return (first === 1 ? 2 : first === 2 ? 5 : 10) * power;
}

function digits(value: number): string {
  const size = Math.abs(value);
  return size === 0 ? "0" : value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}
