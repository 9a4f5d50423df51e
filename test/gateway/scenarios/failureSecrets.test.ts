import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentKind } from '../../../agents/conversation/agent.ts';
import { createGateway, type Logger, type ToolResult } from '../../../src/index.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** By its name and its look no secret; known as one since the child was given it. */
const given = 'planted-by the configuration';
const inherited = 'planted-in our environment';
const word = 'production';
const env = { GREETING: given, STAGE: word };
const tells = `process.stderr.write(['refused', process.env.GREETING, process.env.OUR_TOKEN, process.env.STAGE].join(' '));`;
const failing = (code: number): readonly string[] => ['-e', `${tells}process.exitCode = ${code}`, '--'];
const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 100 } };

const asText = (value: unknown): string => inspect(value, { depth: 12, maxStringLength: null, breakLength: Infinity });

async function startGateway<T>(declare: (gateway: ReturnType<typeof create>) => T) {
  vi.stubEnv('OUR_TOKEN', inherited);
  const directory = temporaryDirectory();
  const told: unknown[] = [];
  const line = (...words: unknown[]): void => void told.push(words);
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  const gateway = create(join(directory, 'events.sqlite'), logger);
  gateway.on('*', (fact) => told.push(fact));
  const declared = declare(gateway);
  await gateway.start();
  onTestFinished(() => gateway.stop());
  return {
    ...{ gateway, told, declared },
    async files() {
      await gateway.stop();
      return readdirSync(directory)
        .map((name) => readFileSync(join(directory, name), 'latin1'))
        .join('');
    },
  };
}

const create = (store: string, logger: Logger) =>
  createGateway({ kinds: [agentKind], store, logger, control: false, alerts: { failures: 1 } });

describe.skipIf(!hasSqlite)('a failure of a child', () => {
  it.each([1, 2])(
    '[O-8] is told without the variables that a hook was given, though it writes them to stderr: exit %i',
    async (code) => {
      const hook = { command: process.execPath, args: failing(code), env };
      const { gateway, told, files } = await startGateway((each) => {
        each.hook('PreToolUse', hook, { name: 'guard', onFailure: 'block', policy });
      });
      const verdict = await gateway.runHooks({ event: 'PreToolUse' });
      expect(verdict).toMatchObject({ decision: 'block', reason: /refused \[GREETING\] \[redacted\] production$/ });
      expect(asText([verdict.reason, told])).not.toContain('planted');
      expect(await files()).not.toContain('planted');
    },
  );

  it('[O-8] is told without the variables that a command was given, to its caller too', async () => {
    const { declared, told, files } = await startGateway((each) =>
      each.subprocess('tool', { command: process.execPath, args: failing(3), env, policy }),
    );
    const outcome = await declared.call({});
    expect(asText(outcome)).toContain('refused [GREETING]');
    expect(asText([outcome, told])).not.toContain(given);
    expect(asText(told)).not.toContain(inherited);
    expect(await files()).not.toContain('planted');
  });

  it('[O-8] is told without the variables that an agent was given', async () => {
    const { declared, told, files } = await startGateway((each) => {
      const claude = { command: process.execPath, args: failing(3) };
      return each.agent('agent', { backend: 'claude', claude, env, policy });
    });
    const opened = await declared.start();
    const outcome = opened.ok ? await opened.value.send('hello').outcome : opened;
    expect(asText(outcome)).toContain('[GREETING]');
    expect(asText([outcome, told])).not.toContain(given);
    expect(await files()).not.toContain('planted');
  });

  it('[O-8] is kept and answered without secrets in a session, where what a tool answers is kept as it is', async () => {
    const results: ToolResult[] = [];
    const { gateway, told, files } = await startGateway((each) => {
      each.subprocess('tool', { command: process.execPath, args: failing(3), env, policy });
      each.integration('fails', { policy }, () => Promise.reject(new Error(`it said ${inherited}`)));
      each.integration('answers', { policy }, () => Promise.resolve('an answer of planted words'));
    });
    const session = gateway.session('s', {
      onMessage: async (_message, turn) => {
        for (const name of ['tool', 'fails', 'answers']) results.push(await turn.tool(name, 'run', {}));
      },
    });
    const sent = await session.send({ kind: 'user', text: 'go' });
    if (sent.accepted) await sent.processed;
    expect(results).toMatchObject([
      { status: 'error', error: 'refused [GREETING] [redacted] production' },
      { status: 'error', error: 'it said [redacted]' },
      { status: 'ok', value: 'an answer of planted words' },
    ]);
    expect(asText([results, session.history, told])).not.toMatch(/planted-/);
    const kept = await files();
    expect(kept).toContain('an answer of planted words');
    expect(kept).not.toMatch(/planted-/);
  });
});
