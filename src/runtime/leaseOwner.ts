import { identifyNow } from '../actors/process/processIdentity.ts';
import type { BreakerStates } from '../store/breakers.ts';

const separator = '~';
// Not by node:crypto: loading it takes longer than a short run.
const nonce = Math.floor(Math.random() * 2 ** 48).toString(16);
let own: string | undefined;
let lastHolder = 0;

/** The name of this process on leases, by which others can tell whether it is still there. */
export function leaseOwner(): string {
  own ??= [process.pid, identifyNow(process.pid)?.start ?? '', nonce].join(separator);
  return own;
}

/** A name of its own for a holder within this process: two runtimes on one file do not take each other's leases, nor give them back. */
export function newLeaseOwner(): string {
  return `${leaseOwner()}.${++lastHolder}`;
}

/** The circuit whose next probe is asked for, as it was when this process last looked. */
interface ProbeClaim {
  readonly name: string;
  readonly generation: number;
  /** Time that others are to wait for the probe, in ms. */
  readonly leaseMs: number;
  readonly wallNow: number;
  /** The holder of the lease. @defaultValue this process */
  readonly owner?: string | undefined;
}

/** Takes the lease on the next probe, also from a holder that is gone. Never throws. */
export function claimProbe(
  breakers: BreakerStates,
  { name, generation, leaseMs, wallNow, owner = leaseOwner() }: ProbeClaim,
): boolean {
  const claim = (): boolean => breakers.claimProbe(name, generation, owner, leaseMs, wallNow);
  if (claim()) return true;
  const holder = breakers.probeHolder(name);
  if (holder === undefined || !isOwnerGone(holder)) return false;
  breakers.releaseProbe(name, holder);
  return claim();
}

/** Tells whether a holder's process is certain to be gone, so that its lease need not be waited for. */
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
