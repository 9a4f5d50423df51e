import { show } from '../../src/policy/text/face.ts';
import type { EventSearch } from './eventPages.ts';
import { spans } from './snapshot.ts';

/** A parameter of a request that cannot be understood. */
export class WrongParameter extends RangeError {
  readonly parameter: string;
  /** As it was given; undefined where it was not. */
  readonly value: string | undefined;

  constructor(parameter: string, expected: string, value: string | undefined) {
    super(`Expected \`${parameter}\` to be ${expected}, got ${value === undefined ? 'none' : show(value)}`);
    this.name = 'WrongParameter';
    this.parameter = parameter;
    this.value = value;
  }
}

/** Reads the time that figures are to look back, in ms; an hour without a `span`. @throws WrongParameter for a span that is none. */
export function readSpan(query: URLSearchParams): number {
  const span = textOf(query, 'span') ?? '1h';
  if (!Object.hasOwn(spans, span)) throw new WrongParameter('span', `one of ${Object.keys(spans).join(', ')}`, span);
  return spans[span as keyof typeof spans];
}

const mostEvents = 500;
const usualEvents = 100;

/** Reads the search for events; the newest 100 without a `limit`. @throws WrongParameter for what is no number, time or flag. */
export function readEventSearch(query: URLSearchParams): EventSearch {
  const [integration, session] = [textOf(query, 'integration'), textOf(query, 'session')];
  return {
    ...{ since: integerOf(query, 'since'), until: integerOf(query, 'until') },
    ...{ after: integerOf(query, 'after'), before: integerOf(query, 'before') },
    ...{ category: textOf(query, 'category'), integration, session, text: textOf(query, 'text') },
    failed: readFlag(query, 'failed'),
    limit: integerOf(query, 'limit', 1, mostEvents) ?? usualEvents,
  };
}

/** @throws WrongParameter for what is no id of an event. */
export function readEventId(query: URLSearchParams): number {
  const id = integerOf(query, 'id', 1);
  if (id === undefined) throw new WrongParameter('id', 'the id of an event', undefined);
  return id;
}

/** The session that is asked for. @throws WrongParameter where none is named. */
export function readSessionId(query: URLSearchParams): string {
  const id = textOf(query, 'id');
  if (id === undefined) throw new WrongParameter('id', 'the id of a session', undefined);
  return id;
}

/** The session whose dead letters are asked for; undefined for those of all. */
export function readLettersOf(query: URLSearchParams): string | undefined {
  return textOf(query, 'session');
}

function readFlag(query: URLSearchParams, name: string): boolean {
  const given = textOf(query, name) ?? '0';
  if (given !== '0' && given !== '1') throw new WrongParameter(name, '0 or 1', given);
  return given === '1';
}

/** Digits alone: what else JavaScript reads as a number is a mistake here. */
function integerOf(
  query: URLSearchParams,
  name: string,
  min = 0,
  max: number = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const given = textOf(query, name);
  if (given === undefined) return undefined;
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (!(value >= min && value <= max)) {
    const above = max === Number.MAX_SAFE_INTEGER ? ` of at least ${min}` : ` from ${min} to ${max}`;
    throw new WrongParameter(name, `an integer${above}`, given);
  }
  return value;
}

/** Undefined for one that is empty, as a form leaves it. */
function textOf(query: URLSearchParams, name: string): string | undefined {
  const [given = '', second] = query.getAll(name);
  if (second !== undefined) throw new WrongParameter(name, 'given once', `${given}, ${second}`);
  return given === '' ? undefined : given;
}
