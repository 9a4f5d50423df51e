import { cockatielBreaker } from '../contenders/cockatiel.ts';
import { policy } from '../contenders/contender.ts';
import { opossumCircuit } from '../contenders/opossum.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { Case } from '../harness/suite.ts';
import type { Cockatiel, Opossum } from '../peers/types.ts';

/** Calls in a round. */
const refusedCalls = 50_000;

/** A circuit that is open; tells of a call whether it was refused. */
interface OpenCircuit {
  refuses(input: number): Promise<boolean>;
  stop(): void | Promise<void>;
}

/** Calls that are refused, one after the other, each looked at: who throws is caught, as one must. */
export function refused(open: () => Promise<OpenCircuit>): Case {
  return {
    async measure(probe) {
      const circuit = await open();
      const call = async (): Promise<void> => {
        for (let input = 0; input < refusedCalls; input++) {
          if (!(await circuit.refuses(input))) throw new Error('A call was let pass');
        }
      };
      // As in `calls`: warm.
      await call();
      await probe.time('call', refusedCalls, call);
      await circuit.stop();
    },
  };
}

/** Opened by failures, as it is in earnest; what it refuses comes back as a value. */
export async function openUnwedge(): Promise<OpenCircuit> {
  const gateway = createGateway();
  const integration = gateway.integration('work', { policy: { breaker: { consecutiveFailures: 1 } } }, fails);
  await gateway.start();
  await integration.call(undefined, { maxAttempts: 1 });
  if (integration.breaker.state !== 'open') throw new Error(`The circuit is ${integration.breaker.state}`);
  return {
    async refuses(input) {
      const outcome = await integration.call(input);
      return !outcome.ok && outcome.failure.kind === 'circuit_open';
    },
    stop: () => gateway.stop(),
  };
}

/** What a refusal takes at the least that is thrown: an error, made and caught. */
export async function throwing(): Promise<OpenCircuit> {
  return {
    refuses: () => refuse().then(letPass, () => true),
    stop() {},
  };
}

async function refuse(): Promise<number> {
  throw new Error('Breaker is open');
}

/** It throws what it refuses. */
export function openOpossum(peer: Opossum): () => Promise<OpenCircuit> {
  return async () => {
    const circuit = opossumCircuit(peer, async () => 0);
    circuit.open();
    return {
      refuses: (input) => circuit.fire(input).then(letPass, isOpossumRefusal),
      stop: () => circuit.shutdown(),
    };
  };
}

/** The breaker alone, as its retry and its timeout would only add to it. It throws what it refuses. */
export function openCockatiel(peer: Cockatiel): () => Promise<OpenCircuit> {
  return async () => {
    const breaker = cockatielBreaker(peer, 1);
    await breaker.execute(fails).catch(() => undefined);
    return {
      refuses: () =>
        breaker
          .execute(async () => policy.maxAttempts)
          .then(letPass, (error: unknown) => peer.isBrokenCircuitError(error)),
      stop() {},
    };
  };
}

const letPass = (): boolean => false;

function isOpossumRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EOPENBREAKER';
}

async function fails(): Promise<number> {
  throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
}
