import type { Machine } from './machine.ts';

/** The pids of a machine, that of the host among them. */
export function procDirectory({ processes }: Machine): readonly string[] {
  return [process.pid, ...processes.keys()].map(String);
}

/** What `/proc` says of the processes of a machine; undefined for what it does not know. @throws ENOENT for a process that is not there. */
export function procFile(machine: Machine, path: string): string | undefined {
  const [, pid, what] = /^\/proc\/(\d+|self|loadavg)(?:\/(\w+))?$/.exec(path) ?? [];
  if (pid === undefined) return undefined;
  if (pid === 'self') return what === 'limits' ? limits('unlimited') : undefined;
  if (pid === String(process.pid)) return what === 'stat' ? stat(process.pid, 1, process.pid, machine.hostStart) : '';
  const found = machine.processes.get(Number(pid));
  if (found === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
  const { facts, parent, isStopped } = found;
  switch (what) {
    case 'stat':
      return stat(facts.pid, parent, facts.group, facts.startTime, isStopped ? 'T' : 'S');
    case 'environ':
      return Object.entries(facts.env)
        .map(([name, value]) => `${name}=${value ?? ''}\0`)
        .join('');
    case 'cmdline':
      return facts.args.map((word) => `${word}\0`).join('');
    case 'limits':
      return limits(facts.limit ?? 'unlimited');
    case undefined:
    default:
      return '';
  }
}

const stat = (pid: number, parent: number, group: number, startTime: number, state = 'S'): string =>
  `${pid} (node) ${state} ${parent} ${group} ${group} ${'0 '.repeat(15)}${startTime} 0`;

const limits = (soft: string): string =>
  `Max stack size            8388608              unlimited            bytes\nMax realtime timeout      ${soft}   unlimited            us\n`;
