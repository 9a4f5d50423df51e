import { readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeDirectory } from '../src/actors/process/face.ts';
import { flightText } from '../src/store/face.ts';
import { attemptsIn, type Incident, isPlayable, rowsIn } from './incident.ts';

/** Names of the files of a folder. */
export const incidentFile = 'incident.json';
export const eventsFile = 'events.jsonl';
const readmeFile = 'README.txt';

export interface IncidentFile {
  readonly name: string;
  readonly text: string;
}

/** The files of an incident's folder. */
export function incidentFiles(incident: Incident): readonly IncidentFile[] {
  const { events, ...rest } = incident;
  return [
    { name: incidentFile, text: `${flightText(rest)}\n` },
    { name: eventsFile, text: events.map((event) => `${flightText(event)}\n`).join('') },
    { name: readmeFile, text: readmeOf(incident) },
  ];
}

/**
 * Writes the folder of an incident, for its owner only.
 * @param folder - is made; one that is there must be empty.
 * @returns its absolute path.
 * @throws an Error that names the folder when it cannot be written or holds something.
 */
export function writeIncident(incident: Incident, folder: string): string {
  const path = resolve(folder);
  makeDirectory(path);
  if (readdirSync(path).length > 0) throw new Error(`${path} is not empty; name another folder`);
  for (const { name, text } of incidentFiles(incident))
    writeFileSync(join(path, name), text, { mode: 0o600, flag: 'wx' });
  return path;
}

/** All of an incident as one text, for one file; `unwedge replay` takes that as well. */
export function incidentText(incident: Incident): string {
  return `${flightText(incident)}\n`;
}

/** Returns a name for its folder or file: `incident-kb-12-20260102T030405`. */
export function incidentName({ subject, madeAt }: Pick<Incident, 'subject' | 'madeAt'>): string {
  const name = subject.id
    .replace(/[^\w.-]+/g, '_')
    .replace(/^\.+/, '')
    .slice(0, 60);
  const time = new Date(madeAt).toISOString().replace(/[-:]|\..*$/g, '');
  return `incident-${name || subject.kind}-${time}`;
}

export const nothingToPlay = 'Nothing in it can be played.';

/** Lists the contents of an incident, line by line, for people. */
export function contentsOf(incident: Incident): readonly string[] {
  const { integrations, sessions, events } = incident;
  const ends = rowsIn(integrations).filter(({ what }) => what === 'end').length;
  // An earlier record tells of calls that have ended since.
  const last = integrations.flatMap(({ records }) => records.at(-1)?.rows ?? []);
  const pending = last.filter(({ what }) => what === 'pending').length;
  const names = new Set(integrations.map(({ name }) => name)).size;
  const pids = new Set(integrations.map(({ pid }) => pid)).size;
  return [
    `${counted(names, 'integration')}${pids > 1 ? ` in ${pids} processes` : ''}, each with its policy and what befell it`,
    `${counted(attemptsIn(incident), 'attempt')}, ${counted(ends, 'end')} without an answer, ${counted(pending, 'call')} under way: times, tools, kinds, messages of errors`,
    `${counted(sessions.length, 'session')}, each with the limits of its watchdog`,
    `${counted(events.length, 'event')}, without what callers handed to tools`,
  ];
}

/** A number of things, in words. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function readmeOf(incident: Incident): string {
  const { subject, from, until, madeAt, missing } = incident;
  const iso = (at: number): string => new Date(at).toISOString();
  const lines = [
    `What happened around the ${subject.kind} ${subject.id}, ${iso(from)} to ${iso(until)}.`,
    `Taken at ${iso(madeAt)}. ${isPlayable(incident) ? 'Play it on any machine: unwedge replay FOLDER' : nothingToPlay}`,
    '',
    'What it holds, and nothing else:',
    ...contentsOf(incident).map((line) => `- ${line}`),
    '',
    'Inputs, answers, prompts and environments are not in it, but the text of an error may quote some. Secrets were replaced by [redacted], by their names, their shapes and their values.',
    'Read it before you hand it on: a text of your own may say what no rule knows to be secret.',
    '',
    `${incidentFile}  policies, attempts, ends; times are ms since the epoch`,
    `${eventsFile}   events as they were stored, one a line`,
    ...(missing.length === 0
      ? []
      : ['', 'What is not in it though it happened:', ...missing.map((line) => `- ${line}`)]),
  ];
  return `${lines.join('\n')}\n`;
}
