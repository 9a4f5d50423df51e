import { readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeDirectory } from '../src/actors/process/makeDirectory.ts';
import type { Incident } from './incident.ts';
import { incidentFiles } from './incidentFiles.ts';

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
