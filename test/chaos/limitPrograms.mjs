import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../dist/testing/index.js';
import { kinds } from './programs/kinds.mjs';
import { playLanes } from './programs/lanes.mjs';

/** Said where something is short, in the words of the system or in ours. */
const short = {
  disk: /ENOSPC|no space|disk|is full|SQLITE_FULL/i,
  descriptors: /EMFILE|ENFILE|too many open files|descriptor/i,
  processes: /EAGAIN|resource temporarily unavailable|process|thread/i,
};
const saidBy =
  (what) =>
  ({ stderr }) =>
    short[what].test(stderr);
/** Another user for each lane that is short of processes: they are counted by user. */
let users = 30_000;

/** By name: how a program is started so that it is short of something, or what takes it away and gives it back; and whether that can be had here. */
export const limits = {
  'full disk': { needs: 'disk', ready: ({ directory }) => fill(directory), told: saidBy('disk') },
  'disk that fills': {
    needs: 'disk',
    async befall(_, { directory, below }) {
      fill(directory);
      await wait(300 + below(900));
      rmSync(join(directory, 'filler'), { force: true });
    },
    told: saidBy('disk'),
  },
  descriptors: {
    needs: 'prlimit',
    start: ({ below }) => ({ before: ['prlimit', `--nofile=${24 + below(24)}`] }),
    told: saidBy('descriptors'),
    ends: true,
  },
  processes: {
    needs: 'users',
    start({ directory, below }) {
      const uid = users++;
      for (const path of [directory, join(directory, '..')]) chmodSync(path, 0o777);
      chownAll(directory, uid);
      return { uid, before: ['prlimit', `--nproc=${leastProcesses() + below(20)}`] };
    },
    told: saidBy('processes'),
    ends: true,
  },
  'memory of the server': { needs: 'nothing', start: () => ({ flags: ['--max-old-space-size=24'] }) },
};

const can = {
  nothing: () => true,
  prlimit: () => spawnSync('prlimit', ['--version']).status === 0,
  users: () => process.getuid?.() === 0 && can.prlimit(),
  disk: () => process.getuid?.() === 0 && process.platform === 'linux' && canMount(),
};

/**
 * Runs each of our programs short of disk, descriptors, processes, or with a server that is short of memory, `times` times in all; after each of them once more with
 * nothing short.
 * @returns {Promise<import('./killPrograms.d.mts').LimitsReport>}
 */
export async function limitPrograms({ times, seed, only, harm: onlyHarm, progress }) {
  const names = Object.keys(kinds).filter((name) => only === undefined || only.includes(name));
  const all = Object.keys(limits).filter((name) => onlyHarm === undefined || name === onlyHarm);
  const missing = all.filter((name) => !can[limits[name].needs]());
  const there = all.filter((name) => !missing.includes(name));
  const hasDisk = can.disk();
  const harmOf = (_, number) => {
    const drawn = there[Math.floor(seededRandom(seed * 7919 + number)() * there.length)];
    return { name: drawn, ...limits[drawn] };
  };
  /** Gives back what was short: the program works as ever. */
  const after = async (name, play) => play({ name: 'nothing', ready: ({ directory }) => restore(directory) });
  const room = hasDisk ? mount : (directory) => mkdirSync(directory);
  return { ...(await playLanes({ names, times, seed, harmOf, room, after, progress })), missing };
}

/** A disk of its own, with little on it. */
function mount(directory) {
  mkdirSync(directory);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m,mode=777', 'tmpfs', directory]);
  return () => execFileSync('umount', ['-l', directory]);
}

function canMount() {
  const directory = join('/tmp', `unwedge-mount-${process.pid}`);
  try {
    mount(directory)();
    return true;
  } catch {
    return false;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Writes until nothing more fits. */
function fill(directory) {
  const file = openSync(join(directory, 'filler'), 'a');
  try {
    for (let size = 65_536; size >= 512; size /= 2) {
      const chunk = Buffer.alloc(size);
      try {
        for (;;) if (writeSync(file, chunk) < size) break;
      } catch {
        // Smaller ones may fit.
      }
    }
  } finally {
    closeSync(file);
  }
}

/** As before: nothing is short, and everything belongs to who looks. */
function restore(directory) {
  rmSync(join(directory, 'filler'), { force: true });
  chownAll(directory, process.getuid?.() ?? 0);
}

const chownAll = (directory, uid) => void execFileSync('chown', ['-R', `${uid}:${uid}`, directory]);

let least;
/** Processes and threads with which Node itself starts here: below that nothing is ours, and with two to five Node 20 hangs. */
function leastProcesses() {
  for (least ??= 6; least < 60; least++) {
    const words = [`--nproc=${least}`, process.execPath, '-e', 'fetch; setTimeout(() => {}, 1)'];
    const { status } = spawnSync('prlimit', words, {
      uid: users++,
      gid: users,
      env: { PATH: process.env.PATH },
      timeout: 20_000,
    });
    if (status === 0) break;
  }
  return least;
}
