import type { Clock } from '../../src/policy/face.ts';
import { type AcpCheckLimits, acpMusts, type CheckState, ended, missingFor } from './acpMusts.ts';
import { AcpTalk, type CheckedAgent } from './acpTalk.ts';
import { type StartedAgent, startAgent } from './startAgent.ts';

/** Finding on one must: `skipped` where the agent lacks what it is about, or had ended. */
export interface AcpCheckRow {
  readonly must: string;
  readonly result: 'pass' | 'fail' | 'skipped';
  readonly seen: string;
}

/** Findings on an agent. */
export interface AcpCheckReport {
  /** True where no must is broken. */
  readonly passed: boolean;
  readonly rows: readonly AcpCheckRow[];
  /** Last line of its stderr, where a must is broken. */
  readonly stderr?: string | undefined;
}

/** The agent that is checked, and how long it may take. */
export interface AcpCheckOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Working directory of it and of its sessions. @defaultValue that of this process */
  readonly cwd?: string | undefined;
  readonly clock: Clock;
  readonly limits?: Partial<AcpCheckLimits> | undefined;
  /** Ends the check, and the agent, when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

const usualLimits: AcpCheckLimits = { startMs: 60_000, turnMs: 120_000, cancelMs: 5000, exitMs: 5000 };

/** Looks which musts of the protocol an agent keeps: starts it up to three times, and asks its model for a word. Never rejects. */
export async function checkAcpAgent(options: AcpCheckOptions): Promise<AcpCheckReport> {
  const { command, args, env, cwd = process.cwd(), clock, signal } = options;
  const limits = { ...usualLimits, ...options.limits };
  let last: StartedAgent | undefined;
  const start = (): CheckedAgent => (last = startAgent([command, ...args], { env, cwd, clock }));
  const rows = await lookAtAll(start, { clock, cwd, limits, signal });
  const passed = rows.every(({ result }) => result !== 'fail');
  const stderr = passed ? '' : (last?.lastError() ?? '');
  return { passed, rows, ...(stderr !== '' && { stderr }) };
}

/** Looks at an agent however it is started. */
export async function lookAtAll(
  start: () => CheckedAgent,
  { clock, cwd, limits, signal }: Pick<CheckState, 'cwd' | 'limits'> & Pick<AcpCheckOptions, 'clock' | 'signal'>,
): Promise<readonly AcpCheckRow[]> {
  const talks = [new AcpTalk(start(), clock)];
  const state: CheckState = {
    ...{ limits, cwd, greeting: {}, session: '', talk: talks[0] as AcpTalk },
    async restart() {
      await state.talk.agent.kill();
      if (signal?.aborted === true) return state.talk;
      state.talk = new AcpTalk(start(), clock);
      talks.push(state.talk);
      return state.talk;
    },
  };
  const stop = (): void => void state.talk.agent.kill();
  signal?.addEventListener('abort', stop, { once: true });
  const rows: AcpCheckRow[] = [];
  for (const row of acpMusts) {
    if (signal?.aborted === true) break;
    const [must, look] = row;
    const missing = missingFor(row, state);
    const [isKept, seen] = missing === undefined ? await look(state) : [undefined, missing];
    const end = seen.includes(ended) ? await state.talk.within(state.talk.agent.exited, 1000) : undefined;
    const result = isKept === undefined ? 'skipped' : isKept ? 'pass' : 'fail';
    rows.push({ must, result, seen: end === undefined ? seen : `${seen}: ${end}` });
  }
  signal?.removeEventListener('abort', stop);
  await state.talk.agent.kill();
  for (const [must, oddities] of afterwards) {
    const [first, ...others] = talks.flatMap(oddities);
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const seen = first === undefined ? 'nothing else' : `${JSON.stringify(first)}${more}`;
    rows.push({ must, result: first === undefined ? 'pass' : 'fail', seen });
  }
  return rows;
}

/** Musts of the whole time, and what breaks them. */
const afterwards: readonly (readonly [must: string, oddities: (talk: AcpTalk) => readonly unknown[]])[] = [
  ['a request has one answer, and each answer a request', ({ wire }) => wire.oddAnswers],
  ['nothing of a turn comes after its answer', ({ wire }) => wire.late],
  ['stdout has messages alone', ({ wire }) => wire.strays],
];
