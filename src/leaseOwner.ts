import { identifyNow } from './actors/processIdentity.ts';
import type { BreakerStates } from './store/breakerState.ts';

const separator = '~';
// Not by node:crypto: loading it takes longer than a short run.
const nonce = Math.floor(Math.random() * 2 ** 48).toString(16);
let own: string | undefined;

/** Who holds the leases of this process: one name for all its runtimes, by which others can tell whether it is still there. */
export function leaseOwner(): string {
  own ??= [process.pid, identifyNow(process.pid)?.start ?? '', nonce].join(separator);
  return own;
}

/** The circuit whose next probe is asked for, as it was when this process last looked. */
export interface ProbeClaim {
  readonly name: string;
  readonly generation: number;
  /** How long others are to wait for the probe, in ms. */
  readonly leaseMs: number;
  readonly wallNow: number;
}

/** Takes the lease on the next probe for this process, also from a holder that is gone. Never throws. */
export function claimProbe(breakers: BreakerStates, { name, generation, leaseMs, wallNow }: ProbeClaim): boolean {
  const claim = (): boolean => breakers.claimProbe(name, generation, leaseOwner(), leaseMs, wallNow);
  if (claim()) return true;
  const holder = breakers.probeHolder(name);
  if (holder === undefined || !isOwnerGone(holder)) return false;
  breakers.releaseProbe(name, holder);
  return claim();
}

/** Whether a holder's process is certain to be gone, so that its lease need not be waited for. */
function isOwnerGone(owner: string): boolean {
  const [pid, start = ''] = owner.split(separator);
  const here = worldOf(identifyNow(process.pid)?.start ?? '');
  const there = worldOf(start);
  if (start === '' || here === undefined || there === undefined) return false;
  if (there.boot !== here.boot) return true;
  return there.namespace === here.namespace && identifyNow(Number(pid))?.start !== start;
}

/** The start of a process is its time, the boot of its machine and its namespace of pids. */
function worldOf(start: string): { readonly boot: string; readonly namespace: string } | undefined {
  const [, boot, namespace] = start.split('@');
  return boot === undefined || namespace === undefined ? undefined : { boot, namespace };
}
