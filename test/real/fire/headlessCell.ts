import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { faultyModelApi } from '../../../testing/index.ts';
import type { InstalledAgent } from './agents.ts';
import { type Cell, type CellOptions, inPlace, shorten, within } from './cell.ts';
import { type Fault, mark } from './faults.ts';
import { processesOf } from './processes.ts';

/** Runs one agent under one fault without an editor, and looks at its exit code. */
export async function headlessCell(
  agent: InstalledAgent,
  fault: Fault,
  { front, patienceMs, node }: CellOptions,
): Promise<Cell> {
  const api = await faultyModelApi(() => fault.model);
  try {
    return await inPlace(node, async ({ home, cwd, env }) => {
      const [command = '', ...args] = [...front, ...agent.words, ...(agent.headless ?? [])];
      const startedAt = Date.now();
      const child = spawn(command, args, {
        cwd,
        env: { ...env, ...agent.env({ home, cwd, url: api.url, asks: false }) },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      const exited = new Promise<string>((resolve) => {
        child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`));
        child.once('error', (error) => resolve(error.message));
      });
      const end = (await within(exited, patienceMs)) ?? 'none';
      const seconds = Math.round((Date.now() - startedAt) / 100) / 10;
      if (end === 'none') {
        child.kill('SIGTERM');
        if ((await within(exited, 4000)) === undefined) child.kill('SIGKILL');
      }
      await pause(2000);
      const left = processesOf(home).map(({ command: line }) => line.replaceAll(/\S*\/(?=[^/\s]+)/g, '').slice(0, 60));
      return {
        agent: agent.name,
        version: agent.version,
        mode: 'headless',
        way: front.length === 0 ? 'bare' : 'behind',
        fault: fault.name,
        prompts: [{ end, answers: end === 'none' ? 0 : 1, seconds }],
        shown: stdout.split(mark).length - 1,
        requests: api.requests.filter(
          ({ method, url }) => method === 'POST' && /messages|responses|completions|:stream/.test(url),
        ).length,
        left,
        text: shorten(stderr.trim().split('\n').at(-1) ?? ''),
      };
    });
  } finally {
    await api.close();
  }
}
