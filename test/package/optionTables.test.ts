import { describe, expect, it, onTestFinished } from 'vitest';
import { connectCodex } from '../../agents/codex/index.ts';
import { createAgent } from '../../agents/conversation/index.ts';
import { createClaude } from '../../agents/claude/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { createGateway, createSupervisor, type Gateway, treeText } from '../../src/index.ts';
import { inspectWithStately } from '../../web/dashboard/index.ts';
import { superviseMcpServer, withErrorBoundary } from '../../proxy/boundary/index.ts';
import { withTelemetry } from '../../otel/index.ts';
import { repairTranscript } from '../../transcript/index.ts';
import {
  faultyAcpAgent,
  faultyAcpClient,
  faultyMcpServer,
  inProcessAcpAgent,
  SimulatedClock,
  startFaultyMcpHttpServer,
} from '../../testing/index.ts';
import { serverSentEvents, showProgress, workflowKind } from '../../workflow/index.ts';

/** A function of the public API that takes options, what it cannot do without, and options to be given wrongly. */
interface Taker {
  readonly take: (options: never, gateway: Gateway) => unknown;
  readonly needs?: object;
  /** An option and a value of a type that it does not take. */
  readonly wrong: readonly [option: string, value: unknown];
  /** An option that is a duration; where it is within another object, that object too. */
  readonly duration?: string;
}

const nothing = (): undefined => undefined;
const call = (gateway: Gateway) => gateway.integration<string, string>('called', {}, (input) => input);

const run = { events: nothing, outcome: Promise.resolve() };

const takers: Readonly<Record<string, Taker>> = {
  createGateway: { take: (options) => createGateway(options), wrong: ['store', 5] },
  'createGateway.alerts': {
    take: (alerts) => createGateway({ alerts }),
    wrong: ['failures', 'x'],
    duration: 'windowMs',
  },
  'gateway.integration': {
    take: (options, gateway) => gateway.integration('kb', options, nothing),
    wrong: ['policy', 5],
  },
  'gateway.integration.policy': {
    take: (policy, gateway) => gateway.integration('kb', { policy }, nothing),
    wrong: ['maxInFlight', 'x'],
    duration: 'attemptMs',
  },
  'gateway.integration.rate': {
    take: (rate, gateway) => gateway.integration('kb', { rate }, nothing),
    wrong: ['cost', 5],
    duration: 'perMs',
  },
  'gateway.integration.tools.query': {
    take: (query, gateway) => gateway.integration('kb', { tools: { query } }, nothing),
    wrong: ['effect', 5],
    duration: 'idleMs',
  },
  'integration.call': {
    take: (options, gateway) => call(gateway).call('a', options),
    // Its gateway does not start, for which it would wait.
    needs: { overallMs: 10 },
    wrong: ['maxAttempts', 'x'],
    duration: 'attemptMs',
  },
  'gateway.http': {
    take: (options, gateway) => gateway.http('api', options),
    needs: { baseUrl: 'http://127.0.0.1' },
    wrong: ['maxBodyBytes', 'x'],
  },
  'gateway.http.stream': {
    take: (options, gateway) => gateway.http('api', { baseUrl: 'http://127.0.0.1' }).stream({ path: '' }, options),
    wrong: ['events', 5],
    duration: 'contentMs',
  },
  'gateway.mcpServer': {
    take: (options, gateway) => gateway.mcpServer('kb', options),
    needs: { command: 'server' },
    wrong: ['trustAnnotations', 5],
    duration: 'handshakeMs',
  },
  'gateway.mcpServer.url': {
    take: (options, gateway) => gateway.mcpServer('kb', options),
    needs: { url: 'https://mcp.example/mcp' },
    wrong: ['transport', 5],
    duration: 'pingMs',
  },
  'gateway.subprocess': {
    take: (options, gateway) => gateway.subprocess('kb', options),
    needs: { command: 'tool' },
    wrong: ['args', 5],
    duration: 'graceMs',
  },
  'gateway.hook': {
    take: (options, gateway) => gateway.hook('PreToolUse', nothing, options),
    wrong: ['onFailure', 5],
    duration: 'overallMs',
  },
  'gateway.approval': {
    take: (options, gateway) => gateway.approval('ask', () => 'allow' as never, options),
    wrong: ['overallMs', {}],
    duration: 'overallMs',
  },
  'gateway.guardProcess': { take: (options, gateway) => gateway.guardProcess(options), wrong: ['goOn', 5] },
  'gateway.session': {
    take: (options, gateway) => gateway.session('main', options),
    needs: { onMessage: nothing },
    wrong: ['mailbox', 5],
  },
  'gateway.session.watchdog': {
    take: (watchdog, gateway) => gateway.session('main', { onMessage: nothing, watchdog }),
    wrong: ['turnMs', {}],
    duration: 'turnMs',
  },
  'session.send': {
    take: (options, gateway) => gateway.session('main', { onMessage: nothing }).send({ kind: 'a' } as never, options),
    wrong: ['key', 5],
  },
  'gateway.stop': { take: (options, gateway) => gateway.stop(options), wrong: ['drainMs', {}], duration: 'drainMs' },
  'gateway.wait': { take: (options, gateway) => gateway.wait('call.failed', options), wrong: ['signal', 5] },
  'gateway.events': { take: (options, gateway) => gateway.events(options).return(), wrong: ['limit', 'x'] },
  createSupervisor: {
    take: (options) => createSupervisor(options),
    needs: { clock: new SimulatedClock(), random: () => 0.5 },
    wrong: ['intensity', 'x'],
    duration: 'periodMs',
  },
  treeText: { take: (options) => treeText({ id: 'a' } as never, options), wrong: ['width', 'x'] },
  loadConfig: { take: (options) => loadConfig(options), needs: { env: {}, file: false }, wrong: ['cwd', 5] },
  repairTranscript: { take: (options) => repairTranscript([], options), wrong: ['sentence', 5] },
  createClaude: { take: (options) => createClaude(options), wrong: ['model', 5] },
  createAgent: {
    take: (options) => createAgent(options),
    needs: { backend: 'claude' },
    wrong: ['policy', 5],
  },
  connectCodex: { take: (options) => connectCodex(options), wrong: ['policy', 5] },
  'gateway.workflow': {
    take: (options) => createGateway({ kinds: [workflowKind] }).workflow('flow', options),
    needs: { backends: [{ name: 'a', plan: nothing, item: nothing }] },
    wrong: ['concurrency', 'x'],
    duration: 'overallMs',
  },
  showProgress: {
    take: (options) => showProgress(run as never, { write: nothing, on: nothing, off: nothing } as never, options),
    wrong: ['rewrite', 5],
  },
  serverSentEvents: {
    take: (options) => serverSentEvents(run as never, options),
    wrong: ['heartbeatMs', {}],
    duration: 'heartbeatMs',
  },
  inspectWithStately: {
    take: (options, gateway) => inspectWithStately(gateway as never, options),
    wrong: ['port', 'x'],
  },
  withTelemetry: {
    take: (options, gateway) => withTelemetry(gateway, options),
    wrong: ['tracerProvider', 5],
  },
  superviseMcpServer: {
    take: (options) => superviseMcpServer({} as never, options),
    wrong: ['name', 5],
    duration: 'idleMs',
  },
  withErrorBoundary: {
    take: (options) => withErrorBoundary(nothing as never, options),
    wrong: ['server', 5],
    duration: 'idleMs',
  },
  startFaultyMcpHttpServer: { take: (options) => startFaultyMcpHttpServer(options), wrong: ['tools', 5] },
  faultyAcpAgent: { take: (options) => faultyAcpAgent(options), wrong: ['faults', 5] },
  faultyAcpClient: {
    take: (options) => faultyAcpClient(inProcessAcpAgent(), options),
    wrong: ['permissions', 'x'],
  },
  inProcessAcpAgent: { take: (options) => inProcessAcpAgent(options), wrong: ['seed', 'x'] },
  faultyMcpServer: { take: (options) => faultyMcpServer(options), wrong: ['tools', 5] },
};

/** What a function says of options, thrown or rejected; undefined where it has nothing to say. */
async function saidOf({ take, needs }: Taker, given: object): Promise<Error | undefined> {
  const gateway = createGateway();
  onTestFinished(() => gateway.stop());
  try {
    await take({ ...needs, ...given } as never, gateway);
  } catch (error) {
    return error as Error;
  }
  return undefined;
}

const all = Object.entries(takers);
const timed = all.filter(([, { duration }]) => duration !== undefined);

describe('the options of', () => {
  it.each(all)('[R-17] %s have no other name than theirs', async (_, taker) => {
    const error = await saidOf(taker, { noSuchOption: 1 });
    expect(error?.message).toMatch(/^Unknown option `(\S+\.)?noSuchOption`; (known|did you mean|it is)/);
    expect(error).toBeInstanceOf(RangeError);
  });

  it.each(all)('[R-17] %s are named with the value that is wrong', async (_, taker) => {
    const [option, value] = taker.wrong;
    const error = await saidOf(taker, { [option]: value });
    expect(error?.message).toMatch(new RegExp(`^Expected \`(\\S+\\.)?${option}\` to be .*, got `));
  });

  it.each(timed)('[R-17] %s refuse what is no duration', async (_, taker) => {
    for (const bad of [-1, '5 minutes', Number.NaN]) {
      const error = await saidOf(taker, { [taker.duration as string]: bad });
      expect(error?.message).toMatch(/ to be a duration (above|of at least) 0 \(ms, or text such as 30s\)/);
      expect(error).toBeInstanceOf(RangeError);
    }
  });

  it.each(timed)('[R-17] %s take a duration as a text', async (_, taker) => {
    const error = await saidOf(taker, { [taker.duration as string]: '5ms' });
    expect(error?.message ?? '').not.toContain(taker.duration as string);
  });
});
