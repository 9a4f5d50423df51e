import { describe, expect, it } from 'vitest';
import { anyName, choicesOf, type ConfigKey, configKeys, configTable, defaultOf } from '../../../src/config/keys.ts';
import { layerOf, mergeLayers } from '../../../src/config/layers.ts';
import { collectProblems } from '../../../src/policy/options/readOptions.ts';
import { checkClaudeOptions } from '../../../agents/claude/claudeOptions.ts';
import { checkGatewayOptions, gatewayKeys, type GatewayOptions } from '../../../src/runtime/runtimeOptions.ts';
import { defaultPolicy } from '../../../src/policy/presets.ts';
import { usualRate } from '../../../src/policy/ratePolicy.ts';
import { Mailbox } from '../../../src/sessions/mailbox.ts';
import { checkSessionOptions } from '../../../src/sessions/sessionOptions.ts';

const source = { from: 'override' } as const;

/** What has to stand beside a key so that only the key itself is judged. */
const beside: readonly (readonly [key: string, path: readonly string[], value: unknown])[] = [
  ['alerts.command.', ['alerts', 'command', 'command'], 'true'],
  ['alerts.webhook.', ['alerts', 'webhook', 'url'], 'https://alerts.example'],
  ['.minimumAttempts', ['policies', 'presets', 'x', 'breaker', 'windowSize'], 100_000],
  ['.minimumAttempts', ['policies', 'integrations', 'x', 'breaker', 'windowSize'], 100_000],
  ['.windowSize', ['policies', 'presets', 'x', 'breaker', 'minimumAttempts'], 1],
  ['.windowSize', ['policies', 'integrations', 'x', 'breaker', 'minimumAttempts'], 1],
  ['.watchdog.releaseMs', ['sessions', 'watchdog', 'recoveryMs'], Number.MAX_VALUE],
  ['.watchdog.recoveryMs', ['sessions', 'watchdog', 'releaseMs'], 1e-12],
];

function configWith({ path }: ConfigKey, value: unknown): Readonly<Record<string, unknown>> {
  const name = path.join('.');
  const others = beside.filter(([part]) => name.includes(part)).map(([, where, what]) => layerOf(source, where, what));
  const real = path.map((key) => (key === anyName ? 'x' : key));
  return mergeLayers([...others, layerOf(source, real, value)]).value;
}

/** The same for the schema, where a limit is switched off by a word. */
const bySchema = (key: ConfigKey, value: unknown): boolean =>
  collectProblems(configTable, configWith(key, value)).problems.length === 0;

function byGateway(key: ConfigKey, value: unknown): boolean {
  try {
    const config = configWith(key, value);
    const text = JSON.stringify(config).replaceAll('"infinity"', '1e999');
    checkGatewayOptions((value === Number.POSITIVE_INFINITY ? JSON.parse(text) : config) as GatewayOptions);
    return true;
  } catch {
    return false;
  }
}

/** Values at and beyond each bound of a key, and of other types. */
function candidatesOf({ key }: ConfigKey): readonly unknown[] {
  const others = [{}, [], true, false, null, Number.NaN];
  if (key.kind === 'text') return [...others, 'sdk', 5, ''];
  if (key.kind === 'choice') return [...others, ...key.choices, 5, ''];
  if (key.kind === 'boolean') return [...others, 'true', 0];
  if (key.kind === 'list') return [...others, ['sdk'], [1], [0], [-1], ['']];
  const near = choicesOf(key)
    .flatMap((each) => (each.kind === 'number' ? [each.min, each.max] : [0]))
    .flatMap((bound) => (bound === undefined ? [] : [bound - 1, bound - 1e-9, bound, bound + 1e-9, bound + 1]));
  const texts = ['5s', '0s', '5 s', '-1s', 'infinity', ''];
  return [...others, ...near, ...texts, -1, 0, 1, 1.5, 1e300, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY];
}

/** Addresses and the variables of a program are more than their type: what is said of them is tested by itself. */
const shapes = new Set([
  'alerts.webhook.url',
  'alerts.webhook.headers',
  'alerts.command.env',
  'alerts.command.envAllow',
]);

const judged = configKeys.filter(({ path }) => !shapes.has(path.join('.')));
const nameOf = ({ path }: ConfigKey): string => path.join('.');

describe('the schema', () => {
  it.each(judged.map((key) => [nameOf(key), key] as const))(
    '[G-10] [R-17] has the bounds of createGateway: %s',
    (_, key) => {
      const candidates = candidatesOf(key).filter((value) => !isBackoffObject(key, value));
      const verdicts = (accepts: typeof bySchema) => candidates.map((value) => [value, accepts(key, value)]);
      expect(verdicts(bySchema)).toEqual(verdicts(byGateway));
      expect(candidates.some((value) => !bySchema(key, value))).toBe(true);
    },
  );

  it.each([
    { initialMs: 1, maxMs: 1 },
    { initialMs: 1, maxMs: 1, factor: 1, jitter: { kind: 'factor', factor: 1 } },
    { initialMs: 1, maxMs: 1, factor: 0.99 },
    { initialMs: 0, maxMs: 1 },
    { initialMs: 1, maxMs: 0 },
    { initialMs: 1 },
    { maxMs: 1 },
    { initialMs: 1, maxMs: 1, capMs: 1 },
    { initialMs: 1, maxMs: 1, jitter: {} },
    { initialMs: 1, maxMs: 1, backoff: { kind: 'constant', delayMs: 1 } },
    { kind: 'constant', delayMs: 0 },
    { kind: 'constant', delayMs: -1 },
    { kind: 'constant', delayMs: 1, maxMs: 1 },
    { kind: 'list', delaysMs: [0], maxMs: 1 },
    { kind: 'list', delaysMs: [] },
    { kind: 'exponential', initialMs: 1, maxMs: 1, jitter: { kind: 'none' } },
    { delayMs: 1 },
    { jitter: { kind: 'none' } },
    {},
  ])('[R-2] has the waits of createGateway: %j', (backoff) => {
    const key = configKeys.find(({ path }) => path.join('.') === 'policies.presets.*.retry.backoff') as ConfigKey;
    expect(bySchema(key, backoff)).toBe(byGateway(key, backoff));
  });

  it('[U-1] [R-17] knows every option of createGateway but those that only code can give', () => {
    const known = new Set(configKeys.map(({ path }) => path[0]));
    const onlyInCode = ['clock', 'random', 'logger'];
    expect(known).toEqual(new Set(Object.keys(gatewayKeys).filter((name) => !onlyInCode.includes(name))));
  });
});

/** It is judged by what it holds. */
function isBackoffObject({ path }: ConfigKey, value: unknown): boolean {
  return path.at(-1) === 'backoff' && typeof value === 'object' && value !== null;
}

describe('the defaults of the schema', () => {
  const real = checkGatewayOptions({});
  const rule = real.alerts?.ruleOf('any');
  const session = checkSessionOptions({ onMessage: () => undefined });
  const { backoff } = real.toolCallRetry.retry;
  const known: Readonly<Record<string, unknown>> = {
    store: real.store,
    synchronous: real.synchronous,
    environment: real.environment,
    childGuard: real.childGuard,
    'retention.maxAgeMs': real.retention?.maxAgeMs,
    'retention.maxBytes': real.retention?.maxBytes,
    'alerts.failures': rule?.failures,
    'alerts.crashes': rule?.crashes,
    'alerts.windowMs': rule?.windowMs,
    'alerts.quietMs': rule?.quietMs,
    'alerts.successBelow': rule?.successBelow,
    'alerts.minCalls': rule?.minCalls,
    // G-17: 15 minutes.
    'inbox.overallMs': 900_000,
    'supervisor.intensity': real.supervisor.intensity,
    'supervisor.periodMs': real.supervisor.periodMs,
    'toolCallRetry.enabled': real.toolCallRetry.retry.maxAttempts > 1,
    'toolCallRetry.maxAttempts': real.toolCallRetry.retry.maxAttempts,
    'toolCallRetry.backoffMs': backoff.kind === 'list' ? backoff.delaysMs : undefined,
    'toolCallRetry.transientPatterns': real.toolCallRetry.patterns,
    'policies.presets.*.budget.zone': 'UTC',
    'sessions.budget.zone': 'UTC',
    'sessions.historyLimit': session.historyLimit,
    'sessions.mailbox.limit': new Mailbox().limit,
    ...Object.fromEntries(Object.entries(session.watchdog).map(([key, value]) => [`sessions.watchdog.${key}`, value])),
    ...Object.fromEntries(Object.entries(session.recovery).map(([key, value]) => [`sessions.recovery.${key}`, value])),
    ...leaves('policies.presets.*', { ...defaultPolicy, rate: usualRate }),
  };
  /** Held by code that says them nowhere else: a heartbeat is refused and joins none; the delivery of alerts. */
  const elsewhere = ['sessions.mailbox.heartbeats', 'sessions.mailbox.coalesceHeartbeats'];
  const withDefault = configKeys.filter(
    ({ path, key }) =>
      defaultOf(key) !== undefined &&
      !/^(policies\.integrations|(alerts|inbox\.notify)\.(command|webhook))\./.test(path.join('.')),
  );

  it.each(withDefault.map((key) => [nameOf(key), key] as const).filter(([name]) => !elsewhere.includes(name)))(
    '[G-10] are the real ones: %s',
    (name, { key }) => {
      expect(defaultOf(key)).toEqual(known[name]);
    },
  );

  it('name every figure there is', () => {
    expect(
      withDefault
        .map(nameOf)
        .filter((name) => !elsewhere.includes(name))
        .sort(),
    ).toEqual(Object.keys(known).sort());
  });

  it('hold for a mailbox', () => {
    const mailbox = new Mailbox<{ message: { kind: string } }>({ limit: 1 });
    const heartbeat = { message: { kind: 'heartbeat' } };
    expect([mailbox.post(heartbeat).posted, mailbox.post(heartbeat).posted]).toEqual(['queued', 'refused']);
  });
});

function leaves(path: string, value: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]: [string, unknown]) =>
      typeof each === 'object' && each !== null && key !== 'backoff'
        ? Object.entries(leaves(`${path}.${key}`, each))
        : [[`${path}.${key}`, each]],
    ),
  );
}

describe('the variables of Claude', () => {
  const call = (env: Readonly<Record<string, string>>) => checkClaudeOptions({}, env);

  it('[C-3] have the defaults of the page', () => {
    const { maxAttempts, backoff, logDir } = call({});
    expect({ maxAttempts, backoff, logDir }).toEqual({
      maxAttempts: 5,
      backoff: {
        kind: 'exponential',
        initialMs: 2000,
        factor: 2,
        maxMs: 120_000,
        jitter: { kind: 'factor', factor: 0.2 },
      },
      logDir: '.logs',
    });
  });

  it.each([
    ['CLAUDE_MAX_RETRIES', '1', '0'],
    ['CLAUDE_BASE_DELAY', '0.001', '0'],
    ['CLAUDE_MAX_DELAY', '0.001', '0'],
    ['CLAUDE_JITTER_FACTOR', '1', '1.01'],
    ['CLAUDE_JITTER_FACTOR', '0', '-0.1'],
  ])('[C-3] have the bounds of the page: %s', (variable, good, bad) => {
    expect(() => call({ [variable]: good })).not.toThrow();
    expect(() => call({ [variable]: bad })).toThrow(variable);
  });
});
