import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type Machine, lowestPid } from './machine.ts';
import { procDirectory, procFile } from './procFiles.ts';

let machine: Machine | undefined;
/** Puts back what Node offers. */
let restore: (() => void) | undefined;

/** Has this process start, signal and list the processes of a simulated machine in place of the system's; none are started without one. */
export function onMachine(which: Machine | undefined): void {
  machine = which;
  if (which !== undefined) restore ??= patch();
  else {
    restore?.();
    restore = undefined;
  }
}

/** Takes the place of what Node offers, for every module that has imported it. */
function patch(): () => void {
  const { spawn } = childProcess;
  const { readFileSync, readdirSync } = fs;
  const { kill: ownKill } = process;
  const kill = ownKill.bind(process);
  const replaced = {
    spawn: (command: string, args: readonly string[], options: childProcess.SpawnOptions) =>
      machine?.spawn(command, args, options) ?? spawn(command, args, options),
  };
  Object.assign(childProcess, replaced);
  Object.assign(fs, {
    readFileSync(path: unknown, ...rest: unknown[]) {
      const text = typeof path === 'string' && machine !== undefined ? procFile(machine, path) : undefined;
      return text ?? (readFileSync as (...given: unknown[]) => unknown)(path, ...rest);
    },
    readdirSync: (path: unknown, ...rest: unknown[]) =>
      path === '/proc' && machine !== undefined
        ? procDirectory(machine)
        : (readdirSync as (...given: unknown[]) => unknown)(path, ...rest),
  });
  process.kill = (pid: number, signal: NodeJS.Signals | number = 'SIGTERM'): true => {
    if (Math.abs(pid) < lowestPid) {
      // Nobody outside of the simulation is signalled by it.
      if (machine === undefined || signal === 0) return kill(pid, signal);
      throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
    }
    if (machine?.signal(pid, signal as NodeJS.Signals | 0) === true) return true;
    throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
  };
  syncBuiltinESMExports();
  return () => {
    Object.assign(childProcess, { spawn });
    Object.assign(fs, { readFileSync, readdirSync });
    process.kill = ownKill;
    syncBuiltinESMExports();
  };
}
