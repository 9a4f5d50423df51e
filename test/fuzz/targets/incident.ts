import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandLine } from '../../../cli/run.ts';
import { gatherIncident } from '../../../incident/gather.ts';
import type { Incident } from '../../../incident/incident.ts';
import { eventsFile, incidentFile, incidentFiles, incidentText } from '../../../incident/incidentFiles.ts';
import { IncidentError, readIncident } from '../../../incident/readIncident.ts';
import { openReader } from '../../../reader/openReader.ts';
import { expecting, must, mustBePlain, type Target } from '../target.ts';
import { filled } from './rows.ts';

const parted = '\n\n';

/** An incident, as a folder (its two files, parted by an empty line) or as one file: what can be read is played to its end, and the rest is refused in plain words. */
export async function incidents(): Promise<Target> {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-fuzz-'));
  const store = join(directory, 'rows.sqlite');
  await filled(store);
  const reader = await openReader(store);
  const gathered: Incident[] = [];
  for (const id of ['kb', 'crm', 'agent:main']) gathered.push(await gatherIncident(reader, id, { now: Date.now() }));
  reader.close();
  const [folder, file] = [join(directory, 'folder'), join(directory, 'incident.json')];
  mkdirSync(folder);
  const textOf = (incident: Incident, name: string): string =>
    incidentFiles(incident)
      .find((each) => each.name === name)
      ?.text.trim() ?? '';
  return {
    seeds: gathered.flatMap((incident) => [
      incidentText(incident),
      `${textOf(incident, incidentFile)}${parted}${textOf(incident, eventsFile)}`,
    ]),
    words: ['attempt', 'pending', 'input', 'refused', 'breaker', 'limits', 'draw', 'delayMs'],
    maxBytes: 20_000,
    // All that is in it is played on simulated time.
    mostSteps: (bytes) => 10_000_000 + 5000 * bytes,
    async run(input) {
      const text = input.toString('utf8');
      const at = text.indexOf(parted);
      const path = at < 0 ? file : folder;
      if (at < 0) writeFileSync(file, input);
      else {
        writeFileSync(join(folder, incidentFile), text.slice(0, at));
        writeFileSync(join(folder, eventsFile), text.slice(at + parted.length));
      }
      const incident = expecting(() => readIncident(path), IncidentError);
      if (incident === undefined) return;
      let printed = '';
      const write = (chunk: string): void => void (printed += chunk);
      const code = await runCommandLine(['replay', path], {
        stdout: { write },
        stderr: { write },
        env: { HOME: directory, XDG_RUNTIME_DIR: directory },
        isTTY: false,
        columns: 100,
        signal: new AbortController().signal,
        pause: () => Promise.resolve(),
        now: () => Date.UTC(2026, 0, 1),
      });
      must(code === 0 || code === 1 || code === 2, `the exit code is ${code}`);
      mustBePlain(printed, 'what is printed');
      must(printed !== '', 'a replay says nothing');
      must(!/\n\s+at .*\.(?:js|ts):\d/.test(printed), `a bug is printed: ${printed.slice(0, 300)}`);
    },
    close: async () => rmSync(directory, { recursive: true, force: true }),
  };
}
