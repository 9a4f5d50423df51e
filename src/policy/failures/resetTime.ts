import { momentOf, type WallTime, wallTime, type Zone, zoneAt } from './zones.ts';

/** Words after which a text says when to come again. */
const before =
  /\b(?:resets?|refresh(?:es)?|renews?|replenish(?:es)?|try again|retry|available(?: again)?|restored|regain access|come back|wait(?: until)?|until|lifted)\b/gi;
/** Words that may stand between those and the moment. */
const between =
  /^(?:[\s,:·(]+|(?:again|later|date|time|at|on|by|until|till|after|is|will be|the|around|approximately|about|your|limit)\b)+/i;
/** Reach behind such words in which a moment is looked for, in characters, and how many of them are looked at. */
const reach = 80;
const most = 12;

/**
 * The moment that a text names for calling again, in ms of the epoch: `resets 3pm (America/Bogota)`, `try again at Nov 22nd, 2026 3:00 PM PST`,
 * `until 2026-12-01 at 00:00 UTC`, `resets Mon 18:00 UTC`, `resets at midnight UTC`. A time without a zone is local time.
 * @param wallNow - wall time in ms.
 */
export function resetMoment(text: string, wallNow: number): number | undefined {
  let count = 0;
  for (const { 0: words, index } of text.matchAll(before)) {
    count += 1;
    if (count > most) return undefined;
    const rest = text.slice(index + words.length, index + words.length + reach);
    const fields = fieldsAt(rest.replace(between, ''));
    const moment = fields === undefined ? undefined : momentFrom(fields, wallNow);
    if (moment !== undefined) return moment;
  }
  return undefined;
}

/** Parts of a moment that were read. */
interface Fields {
  year?: number;
  month?: number;
  day?: number;
  weekday?: number;
  /** Days from today. */
  later?: number;
  time?: { readonly hour: number; readonly minute: number; readonly second: number };
  zone?: Zone;
  hasZone?: true;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const month = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?';
const nth = '(\\d{1,2})(?:st|nd|rd|th)?(?![\\d:]| ?[ap]\\.?m)';

type Reader = readonly [pattern: RegExp, read: (fields: Fields, groups: readonly string[]) => boolean];

/** Pieces of a moment, in the order in which they are tried at each place. */
const pieces: readonly Reader[] = [
  [
    /^(\d{4})-(\d\d)-(\d\d)(?=\D|$)T?/i,
    (fields, [, year, ordinal, day]) => dated(fields, Number(ordinal) - 1, Number(day), year),
  ],
  [
    new RegExp(`^${month} ${nth}(?:,? (\\d{4}))?`, 'i'),
    (fields, [, name = '', day, year]) => dated(fields, monthOf(name), Number(day), year),
  ],
  [
    new RegExp(`^${nth} (?:of )?${month}(?:,? (\\d{4}))?`, 'i'),
    (fields, [, day, name = '', year]) => dated(fields, monthOf(name), Number(day), year),
  ],
  [
    /^(?:(?:next )?)(sun|mon|tue|wed|thu|fri|sat)[a-z]{0,6}\b\.?/i,
    (fields, [, name = '']) => {
      fields.weekday = weekdays.indexOf(name.toLowerCase());
      return true;
    },
  ],
  [
    /^(today|tomorrow)\b/i,
    (fields, [, name = '']) => {
      fields.later = name.toLowerCase() === 'today' ? 0 : 1;
      return true;
    },
  ],
  [/^(midnight|noon)\b/i, (fields, [, name = '']) => timed(fields, name.toLowerCase() === 'noon' ? 12 : 24, 0, 0)],
  [
    /^(\d{1,2})(?::(\d\d)(?::(\d\d)(?:\.\d+)?)?)? ?([ap])\.?m\b\.?/i,
    (fields, [, hour, minute = '0', second = '0', half = '']) => {
      const hours = Number(hour);
      if (hours < 1 || hours > 12) return false;
      return timed(fields, (hours % 12) + (half.toLowerCase() === 'p' ? 12 : 0), Number(minute), Number(second));
    },
  ],
  [
    /^(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?!:?\d| ?[ap]\.?m)(?: ?h(?:rs|ours)?\b)?/i,
    (fields, [, hour, minute, second = '0']) => timed(fields, Number(hour), Number(minute), Number(second)),
  ],
];

const monthOf = (name: string): number => months.indexOf(name.toLowerCase());

function dated(fields: Fields, at: number, day: number, year: string | undefined): boolean {
  if (at < 0 || at > 11 || day < 1 || day > 31 || fields.day !== undefined) return false;
  fields.month = at;
  fields.day = day;
  if (year !== undefined) fields.year = Number(year);
  return true;
}

function timed(fields: Fields, hour: number, minute: number, second: number): boolean {
  if (hour > 24 || minute > 59 || second > 59 || fields.time !== undefined) return false;
  fields.time = { hour, minute, second };
  return true;
}

/** Reads one piece after the other; undefined where neither a day nor a time is among them. */
function fieldsAt(text: string): Fields | undefined {
  const fields: Fields = {};
  let rest = text;
  for (;;) {
    const next = after(rest, fields);
    if (next === undefined) break;
    rest = next.replace(between, '');
  }
  const { time, day, weekday, later } = fields;
  return time === undefined && day === undefined && weekday === undefined && later === undefined ? undefined : fields;
}

/** The text behind its first piece. */
function after(text: string, fields: Fields): string | undefined {
  for (const [pattern, read] of pieces) {
    const match = pattern.exec(text);
    if (match !== null && read(fields, match)) return text.slice(match[0].length);
  }
  const isBegun = fields.time !== undefined || fields.day !== undefined;
  const found = isBegun && fields.hasZone === undefined ? zoneAt(text) : undefined;
  if (found === undefined) return undefined;
  fields.zone = found.zone;
  fields.hasZone = true;
  return text.slice(found.length);
}

/**
 * A time of day that passed less than this ago is the one that is meant: clocks differ, and a message takes its way. What passed earlier is the next
 * of its kind, since nobody refuses a call for a limit that has been reset.
 */
const justPassedMs = 10 * 60_000;

function momentFrom(fields: Fields, wallNow: number): number | undefined {
  const { zone, weekday, later = 0, time = { hour: 0, minute: 0, second: 0 } } = fields;
  const now = wallTime(wallNow, zone);
  const today =
    weekday === undefined ? later : (weekday - new Date(Date.UTC(now.year, now.month, now.day)).getUTCDay() + 7) % 7;
  const on = (more: { years?: number; days?: number }): number => {
    const day =
      fields.day === undefined
        ? { year: now.year, month: now.month, day: now.day + today + (more.days ?? 0) }
        : { year: (fields.year ?? now.year) + (more.years ?? 0), month: fields.month ?? 0, day: fields.day };
    return momentOf({ ...day, ...time } satisfies WallTime, zone);
  };
  const first = on({});
  if (Number.isNaN(first)) return undefined;
  if (first > wallNow - justPassedMs || fields.year !== undefined) return first;
  if (fields.day !== undefined) return on({ years: 1 });
  return on({ days: weekday === undefined ? 1 : 7 });
}

/** Longest wait for a moment that has just passed, in ms: it is not asked at once, nor tomorrow. */
const passedWaitMs = 60_000;

/** Returns how long to wait for a moment; of one that has just passed a minute, of an older one nothing is known. In ms. */
export function waitUntil(moment: number, wallNow: number): number | undefined {
  if (moment > wallNow) return moment - wallNow;
  return wallNow - moment <= justPassedMs ? passedWaitMs : undefined;
}
