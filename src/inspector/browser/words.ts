import type { ShownSnapshot } from './view.ts';

/** The state of a machine in one line; of an actor without states, how it ended. */
export function stateText({ value, status }: ShownSnapshot = {}): string {
  if (value === undefined) return status === 'active' || status === undefined ? '' : status;
  return valueText(value);
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  return entriesOf(value)
    .map(([key, inner]) => {
      const text = valueText(inner);
      if (text === '') return key;
      return `${key}.${text.includes(', ') ? `(${text})` : text}`;
    })
    .join(', ');
}

/** The paths of all states that a machine is in. */
export function statesIn(value: unknown, above = ''): readonly string[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return [above + value];
  return entriesOf(value).flatMap(([key, inner]) => [above + key, ...statesIn(inner, `${above}${key}.`)]);
}

/** A time of day, to the ms. */
export function timeText(ms: number): string {
  const time = new Date(ms);
  const pad = (number: number, length = 2): string => String(number).padStart(length, '0');
  const [hours, minutes, seconds] = [time.getHours(), time.getMinutes(), time.getSeconds()].map((each) => pad(each));
  return `${hours}:${minutes}:${seconds}.${pad(time.getMilliseconds(), 3)}`;
}

/** The name of an actor without its kind. */
export function plainName({ name }: { readonly name: string }): string {
  return name.replace(/^[a-z]+:/, '');
}

function entriesOf(value: unknown): readonly [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
