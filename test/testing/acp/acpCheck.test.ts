import { describe, expect, it, onTestFinished } from 'vitest';
import { join } from 'node:path';
import { lookAtAll } from '../../../testing/acp/acpCheck.ts';
import { type FaultyAcpAgentOptions, inProcessAcpAgent, SimulatedClock } from '../../../testing/index.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const limits = { startMs: 60_000, turnMs: 120_000, cancelMs: 5000, exitMs: 5000 };

/** Checks an agent in this process, on simulated time. */
async function check(
  { faults = [], ...options }: FaultyAcpAgentOptions = {},
  family: readonly number[] = [],
  signal?: AbortSignal,
  onKill = (): void => undefined,
) {
  const clock = new SimulatedClock();
  const stateFile = join(temporaryDirectory(), 'state');
  const start = () => {
    const slowly = { prompt: 'Count', at: 'text', do: 'slow', ms: '1h' } as const;
    const agent = inProcessAcpAgent({ clock, stateFile, ...options, faults: [...faults, slowly] });
    onTestFinished(() => agent.kill());
    return {
      ...agent,
      exited: agent.exited.then((exit) => JSON.stringify(exit)),
      family: () => Promise.resolve(family),
      kill() {
        onKill();
        return Promise.resolve(agent.kill());
      },
    };
  };
  let isOver = false;
  const looked = lookAtAll(start, { clock, cwd: '/', limits, signal }).finally(() => (isOver = true));
  while (!isOver) {
    for (let turns = 0; turns < 10; turns++) await new Promise((done) => void setImmediate(done));
    if (!isOver && clock.nextAt !== undefined) await clock.advance(clock.nextAt - clock.now());
  }
  const rows = await looked;
  return {
    rows,
    broken: rows.flatMap(({ must, result, seen }) => (result === 'fail' ? [`${must}: ${seen}`] : [])),
    skipped: rows.flatMap(({ must, result, seen }) => (result === 'skipped' ? [`${must}: ${seen}`] : [])),
  };
}

describe('the check of an ACP agent', () => {
  it('[A-7] finds nothing broken in one that does right', async () => {
    const { rows, broken, skipped } = await check();
    expect(broken).toEqual([]);
    expect(skipped).toEqual([]);
    expect(rows).toHaveLength(19);
    expect(rows[0]?.seen).toBe('version 1, 0 ms, faulty 1.0.0');
  });

  it.each<[FaultyAcpAgentOptions, string]>([
    [{ protocolVersion: 99 }, 'a version that it does not speak is answered with one that it does: version 99, 0 ms'],
    [
      { protocolVersion: 2 },
      'initialize is answered with a version of the protocol; id 0 is kept: version 2, 0 ms, faulty 1.0.0',
    ],
    [
      { faults: [{ on: 'session/cancel', do: 'stop' }] },
      'a prompt that is cancelled is answered with `cancelled`: end_turn, 0 ms',
    ],
    [
      { faults: [{ on: 'session/cancel', do: 'error' }] },
      'a prompt that is cancelled is answered with `cancelled`: error -32603: Internal error, 0 ms',
    ],
    [
      { faults: [{ on: 'session/cancel', do: 'hang' }] },
      'a prompt that is cancelled is answered with `cancelled`: no answer in 6 s',
    ],
    [
      { faults: [{ on: 'session/cancel', do: 'late' }] },
      'nothing of a turn comes after its answer: "agent_message_chunk" and ',
    ],
    [
      { faults: [{ nth: 1, do: 'hang' }] },
      'a first prompt is answered with a stop reason, after updates with its text: no answer in 120 s, no text',
    ],
    [
      { faults: [{ nth: 2, do: 'stop' }] },
      'a second prompt is answered with a stop reason, after updates with its text: end_turn, 0 ms, no text',
    ],
    [{ faults: [{ nth: 1, do: 'duplicate_answer' }] }, 'a request has one answer, and each answer a request: "first"'],
    [{ faults: [{ nth: 1, do: 'noise' }] }, 'stdout has messages alone: "Loading model..."'],
    [{ stdinEnd: 'stay' }, 'the end of its stdin ends it, and all that it started: alive after 5 s'],
    [
      { replay: 'after' },
      'session/load tells what was said before it is answered, in another process: 0 of the user, 0 of the agent, 0 ms',
    ],
    [
      { loses: 'answers' },
      'session/load tells what was said before it is answered, in another process: 6 of the user, 0 of the agent, 0 ms',
    ],
    [
      { faults: [{ on: '_unwedge/no_such', do: 'crash' }] },
      'a notification that it does not know does not end it: then it ended: {"code":1}',
    ],
    [
      { faults: [{ on: '_unwedge/no_such_method', nth: 1, do: 'malformed' }] },
      'a method that it does not know is answered with -32601: a result, 0 ms',
    ],
  ])('[A-7] finds what is broken: %j', async (options, found) => {
    expect((await check(options)).broken.join('\n')).toContain(found);
  });

  it('[A-7] tells of processes that are left', async () => {
    const { broken } = await check({}, [process.pid]);
    expect(broken).toEqual([`the end of its stdin ends it, and all that it started: {"code":0}; left: ${process.pid}`]);
  });

  it('[A-7] passes over what the agent lacks, and what is not to be seen', async () => {
    const { broken, skipped } = await check({ loadSession: false, faults: [{ prompt: 'Count', do: 'stop' }] });
    expect(broken).toEqual([]);
    expect(skipped).toEqual([
      'a prompt that is cancelled is answered with `cancelled`: over before it was cancelled: end_turn, 0 ms',
      'session/load tells what was said before it is answered, in another process: loadSession is not announced',
      'session/load of a session that it does not know is an error: loadSession is not announced',
    ]);
  });

  it('[A-7] goes on without a session, and without an agent', async () => {
    const signedOut = await check({ faults: [{ on: 'session/new', do: 'error', code: -32_000, message: 'sign in' }] });
    expect(signedOut.broken).toEqual([
      'session/new gives an id, each time another; an id that is a text is kept: error -32000: sign in, 0 ms',
    ]);
    expect(signedOut.skipped.filter((each) => each.endsWith(': there is no session'))).toHaveLength(8);
    const dead = await check({ faults: [{ on: 'start', do: 'crash' }] });
    expect(dead.broken).toEqual([
      'initialize is answered with a version of the protocol; id 0 is kept: it ended: {"code":1}',
      'a version that it does not speak is answered with one that it does: it ended: {"code":1}',
    ]);
  });

  it('[A-7] ends with the agent when it is told to', async () => {
    const abort = new AbortController();
    const checked = check({ faults: [{ nth: 1, do: 'hang' }] }, [], abort.signal);
    abort.abort();
    expect((await checked).rows.map(({ result }) => result)).toEqual(['fail', 'pass', 'pass', 'pass']);
  });

  it('[A-7] starts no other agent once it is told to end', async () => {
    const abort = new AbortController();
    const { broken } = await check({}, [], abort.signal, () => abort.abort());
    expect(broken).toEqual([
      'session/load tells what was said before it is answered, in another process: it ended: {"code":0}',
    ]);
  });
});
