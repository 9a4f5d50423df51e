import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkIncident, laterVersion } from './checkIncident.ts';
import type { Incident } from './incident.ts';
import { eventsFile, incidentFile } from './incidentFiles.ts';

/** Longest file that is read, in bytes. */
const maxBytes = 64 * 1024 * 1024;
/** Most events that are read. */
const mostEvents = 100_000;

/** Why a folder or file is no incident that can be read; `message` names the file. */
export class IncidentError extends Error {
  override readonly name = 'IncidentError';
}

/**
 * Reads an incident, from its folder or from the one file of a download. Nothing in it is trusted: it may come from anybody.
 * @throws {@link IncidentError} that names the file and what is wrong with it.
 */
export function readIncident(path: string): Incident {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new IncidentError(`There is nothing at ${path}`);
  const isFolder = stats.isDirectory();
  const file = isFolder ? join(path, incidentFile) : path;
  const head = parse(readText(file), file);
  if (typeof head !== 'object' || head === null || Array.isArray(head))
    throw new IncidentError(`${file}: expected an object`);
  // First of all: what else is in the folder of a later version is not known.
  const later = laterVersion(head as Readonly<Record<string, unknown>>);
  if (later !== undefined) throw new IncidentError(`${file}: ${later}`);
  const whole = isFolder ? { ...head, events: readEvents(join(path, eventsFile)) } : head;
  const checked = checkIncident(whole);
  if (typeof checked === 'string') throw new IncidentError(`${file}: ${checked}`);
  return checked;
}

function readEvents(file: string): readonly unknown[] {
  const lines = readText(file)
    .split('\n')
    .filter((line) => line !== '');
  if (lines.length > mostEvents) throw new IncidentError(`${file}: more than ${mostEvents} events`);
  return lines.map((line, index) => parse(line, `${file}, line ${index + 1}`));
}

/** Only a plain file: not what a link, a pipe or a device leads to. */
function readText(file: string): string {
  let handle: number | undefined;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(handle);
    if (!stats.isFile()) throw new IncidentError(`${file} is no plain file`);
    if (stats.size > maxBytes) throw new IncidentError(`${file}: ${stats.size} bytes are more than ${maxBytes}`);
    return readFileSync(handle, 'utf8');
  } catch (error) {
    if (error instanceof IncidentError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'ENOENT'
        ? 'is missing: this is no folder of an incident'
        : code === 'ELOOP'
          ? 'is a link, and is not followed'
          : `cannot be read (${code ?? 'unknown'})`;
    throw new IncidentError(`${file} ${why}`);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Quotes in an error of the parser are not repeated: they may be anything. */
function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value));
  } catch {
    throw new IncidentError(`${where}: it is no JSON`);
  }
}
