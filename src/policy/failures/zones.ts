const hour = 60;
/** Abbreviations by their distance from UTC in minutes: what they say is fixed, also in the other half of the year. */
const abbreviations: ReadonlyMap<string, number> = new Map([
  ...['UTC', 'GMT', 'Z', 'WET'].map((name) => [name, 0] as const),
  ...['CET', 'BST', 'WEST', 'WAT'].map((name) => [name, hour] as const),
  ...['CEST', 'EET', 'CAT', 'SAST'].map((name) => [name, 2 * hour] as const),
  ...['EEST', 'MSK', 'EAT', 'TRT'].map((name) => [name, 3 * hour] as const),
  ...['EDT', 'AST', 'CLT'].map((name) => [name, -4 * hour] as const),
  ...['EST', 'CDT', 'COT', 'PET'].map((name) => [name, -5 * hour] as const),
  ...['CST', 'MDT'].map((name) => [name, -6 * hour] as const),
  ...['MST', 'PDT'].map((name) => [name, -7 * hour] as const),
  ...['PST', 'AKDT'].map((name) => [name, -8 * hour] as const),
  ['AKST', -9 * hour],
  ['HST', -10 * hour],
  ...['ART', 'BRT', 'UYT', 'ADT'].map((name) => [name, -3 * hour] as const),
  ['NST', -3.5 * hour],
  ['PKT', 5 * hour],
  ['IST', 5.5 * hour],
  ['NPT', 5.75 * hour],
  ['WIB', 7 * hour],
  ['ICT', 7 * hour],
  ...['SGT', 'HKT', 'AWST', 'PHT'].map((name) => [name, 8 * hour] as const),
  ...['JST', 'KST'].map((name) => [name, 9 * hour] as const),
  ['ACST', 9.5 * hour],
  ['AEST', 10 * hour],
  ['AEDT', 11 * hour],
  ['NZST', 12 * hour],
  ['NZDT', 13 * hour],
]);

/** Names that mean whatever holds there at the time. */
const regions: ReadonlyMap<string, string> = new Map([
  ['PT', 'America/Los_Angeles'],
  ['MT', 'America/Denver'],
  ['CT', 'America/Chicago'],
  ['ET', 'America/New_York'],
  ['PACIFIC', 'America/Los_Angeles'],
  ['MOUNTAIN', 'America/Denver'],
  ['CENTRAL', 'America/Chicago'],
  ['EASTERN', 'America/New_York'],
]);

/** The wall clock of a place: so many minutes before UTC, or a zone of the IANA database; undefined is this machine's. */
export type Zone = number | string | undefined;

const names = [...abbreviations.keys(), ...regions.keys()].sort((one, other) => other.length - one.length).join('|');
const region = 'Pacific|Mountain|Central|Eastern';
/** A zone at the beginning of a text, with what closes it. */
const written = new RegExp(
  String.raw`^[ (\[]{0,3}(?:(?<iana>(?:[A-Z][A-Za-z]+(?:[_-][A-Za-z]+)*\/)+[A-Z][A-Za-z]+(?:[_-][A-Za-z]+)*|Etc\/GMT[+-]\d{1,2})` +
    String.raw`|(?:UTC|GMT)? ?(?<sign>[+\u2212-])(?<hours>\d{1,2})(?::?(?<minutes>\d\d))?(?!\d)` +
    String.raw`|(?<region>${region})(?: (?:Standard|Daylight))?(?: Time)?\b|(?<name>${names})\b(?! ?\d)|(?<local>(?:your )?local(?: time)?\b))[)\]]?`,
);

/** The zone that a text begins with, and how much of it that is; undefined where there is none. */
export function zoneAt(text: string): { readonly zone: Zone; readonly length: number } | undefined {
  const match = written.exec(text);
  if (match === null) return undefined;
  const [{ length }] = match;
  const { iana, sign, hours, minutes, region: place, name, local } = match.groups ?? {};
  if (local !== undefined) return { zone: undefined, length };
  if (iana !== undefined) return isZone(iana) ? { zone: iana, length } : undefined;
  if (sign !== undefined) {
    const distance = Number(hours) * hour + Number(minutes ?? 0);
    return distance > 14 * hour ? undefined : { zone: sign === '+' ? distance : -distance, length };
  }
  const known = (place ?? name ?? '').toUpperCase();
  return { zone: abbreviations.get(known) ?? regions.get(known), length };
}

/** Tells whether a name is one of the IANA database. */
export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

/** A wall clock: the fields as `Date.UTC` takes them. */
export interface WallTime {
  readonly year: number;
  /** 0 is January. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Returns what the clocks of that zone show at a moment. */
export function wallTime(moment: number, zone: Zone): WallTime {
  const shown = new Date(moment + offsetMs(moment, zone));
  return {
    year: shown.getUTCFullYear(),
    month: shown.getUTCMonth(),
    day: shown.getUTCDate(),
    hour: shown.getUTCHours(),
    minute: shown.getUTCMinutes(),
    second: shown.getUTCSeconds(),
  };
}

/** The moment at which the clocks of that zone show this; of a time that is left out in spring, the one an hour later. */
export function momentOf({ year, month, day, hour: hours, minute, second }: WallTime, zone: Zone): number {
  const asUtc = Date.UTC(year, month, day, hours, minute, second);
  const guess = asUtc - offsetMs(asUtc, zone);
  return asUtc - offsetMs(guess, zone);
}

function offsetMs(moment: number, zone: Zone): number {
  if (typeof zone === 'number') return zone * 60_000;
  if (zone === undefined) return -new Date(moment).getTimezoneOffset() * 60_000;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
  const get = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const shown = Date.UTC(get('year'), get('month') - 1, get('day'), get('hour'), get('minute'), get('second'));
  return shown - Math.floor(moment / 1000) * 1000;
}
