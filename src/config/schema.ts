import { z } from 'zod';
import { defaultAlertRule } from '../policy/alerts.ts';
import type { TextTest } from '../policy/classify.ts';
import {
  boolean,
  byName,
  duration,
  integer,
  keyMeta,
  list,
  oneOf,
  orOff,
  plainDuration,
  section,
  text,
} from './keyTypes.ts';
import { policiesSchema } from './policySchema.ts';

const day = 24 * 60 * 60_000;

const thresholds = {
  failures: integer('Final failures of one integration within `windowMs` that raise an alert.', {
    default: defaultAlertRule.failures,
  }),
  crashes: integer('Crashes of one integration within `windowMs` that raise an alert, whatever became of its calls.', {
    default: defaultAlertRule.crashes,
  }),
  windowMs: duration('See `failures`.', { default: defaultAlertRule.windowMs }),
  quietMs: duration('Time without a final failure and without a crash after which all is clear.', {
    default: defaultAlertRule.quietMs,
  }),
};

const ownThresholds = {
  failures: integer('As `alerts.failures`.', { usually: '`alerts.failures`' }),
  crashes: integer('As `alerts.crashes`.', { usually: '`alerts.crashes`' }),
  windowMs: duration('As `alerts.windowMs`.', { usually: '`alerts.windowMs`' }),
  quietMs: duration('As `alerts.quietMs`.', { usually: '`alerts.quietMs`' }),
};

/** In a module also a RegExp, or what tests a text like one. */
const pattern = z
  .union([z.string(), z.custom<TextTest>((value) => typeof (value as { test?: unknown } | null)?.test === 'function')])
  .register(keyMeta, { expected: 'a string', textInFiles: true });

const anyText = z.string().register(keyMeta, { expected: 'a string' });
const variableValue = z.string().register(keyMeta, { expected: 'a string', secret: true });
const variableName = z.string().min(1).register(keyMeta, { expected: 'a non-empty string' });

const alertCommand = section(
  'A program that gets each alert, and each all-clear, as a line of JSON on stdin; no shell.',
  {
    command: z
      .string()
      .min(1)
      .register(keyMeta, { description: 'Path, or name to look up on the PATH.', expected: 'a non-empty string' }),
    args: list(anyText, 'Reach the program literally.', 'a list of strings', { default: [] }),
    cwd: text('Where it runs.', { usually: 'the working directory' }),
    env: z
      .record(z.string().regex(/^[^=]+$/), variableValue)
      .register(keyMeta, { description: 'Variables set for it.', expected: 'an object of strings', default: {} })
      .optional(),
    envMode: oneOf(
      ['extend', 'safe', 'only'],
      'What `env` adds to: the whole environment, HOME, PATH and their like alone, or nothing.',
      { usually: '`environment`' },
    ),
    envAllow: list(
      variableName,
      'Variables of the environment that it gets, beside `env`: with `safe` more than the safe ones, else these alone; not with `only`.',
      'a list of names',
      {
        usually: 'all; none more with `safe`',
      },
    ),
    timeoutMs: duration('How long it may take.', { default: 10_000 }),
  },
);

const webhook = section('Where each alert, and each all-clear, is sent as JSON with a POST.', {
  url: z.string().min(1).register(keyMeta, {
    description: 'An `http:` or `https:` address without user and password. Never shown.',
    expected: 'an http or https address',
    secret: true,
  }),
  headers: z
    .record(z.string(), variableValue)
    .register(keyMeta, {
      description: 'Sent with it, such as `authorization`. Never shown.',
      expected: 'an object of strings',
      default: {},
    })
    .optional(),
  timeoutMs: duration('Limit on one attempt; there are four.', { default: 10_000 }),
});

const alerts = section('', {
  ...thresholds,
  integrations: byName(
    orOff(
      section('Thresholds of one integration.', ownThresholds),
      'Thresholds of one integration; `false`: it raises none.',
    ),
    'Thresholds of single integrations, by their names.',
  ),
  command: alertCommand.optional(),
  webhook: webhook.optional(),
});

/** The whole configuration: every key with its unit, bounds and default. */
export const configSchema = section('The configuration of unwedge.', {
  $schema: text('Where the JSON schema is, for editors.'),
  store: text("SQLite file of events, circuits and sessions; `':memory:'` keeps nothing.", {
    default: ':memory:',
    variable: 'UNWEDGE_DB',
  }),
  synchronous: oneOf(
    ['NORMAL', 'FULL'],
    'What a commit survives: the end of the process (`NORMAL`) or of the machine (`FULL`).',
    {
      default: 'NORMAL',
    },
  ),
  childGuard: boolean('Whether a process of its own stands by to end the children should this one be killed.', {
    default: true,
  }),
  control: boolean('Whether commands of the same user reach the running gateway over a Unix socket.', {
    usually: "true; false with the store `':memory:'`",
  }),
  environment: oneOf(
    ['extend', 'safe'],
    'What children of a gateway inherit, but for MCP servers: the whole environment, keys and tokens included, or HOME, PATH and their like alone (`safe`). The program of `unwedge run` and `unwedge agent` gets all.',
    { default: 'extend' },
  ),
  retention: orOff(
    section('', {
      maxAgeMs: duration('Age at which records are deleted.', { default: 30 * day }),
      maxBytes: integer(
        'Size of the database beyond which the oldest records are deleted.',
        { default: 1_000_000_000 },
        {
          min: 1_000_000,
          unit: 'bytes',
        },
      ),
    }),
    'How long records are kept, and how much of them; `false` keeps everything.',
  ).optional(),
  alerts: orOff(alerts, 'When alerts are raised, and where they go beside subscribers; `false`: never.').optional(),
  supervisor: section('Of the root supervisor.', {
    intensity: integer(
      'Restarts of all children together within `periodMs` before one is put into quarantine.',
      { default: 30 },
      { min: 0 },
    ),
    periodMs: duration('See `intensity`.', { default: 10_000 }),
  }).optional(),
  toolCallRetry: section(
    "How sessions' tool calls are tried again; as `gateway.toolCallRetry` of an `openclaw.json`.",
    {
      enabled: boolean('Without it a call is made once.', { default: true }),
      maxAttempts: integer('Attempts in all, the first included.', { default: 3 }),
      backoffMs: z
        .array(plainDuration())
        .min(1)
        .register(keyMeta, {
          description: 'Wait before the second attempt, the third …; the last repeats.',
          expected: 'a list of at least one wait (ms, or text such as 30s)',
          unit: 'ms',
          default: [100, 500, 2000],
          whole: true,
        })
        .optional(),
      transientPatterns: list(
        pattern,
        'Errors worth another attempt, besides those that are known: texts in any case, or regular expressions in RE2 syntax.',
        'a list of strings',
        { default: [] },
      ),
    },
  ).optional(),
  policies: policiesSchema,
  sessions: section('Defaults of sessions; what the code says of one wins.', {
    historyLimit: integer('Entries of the history kept.', { default: 10_000 }),
    mailbox: section('What may wait.', {
      limit: integer('Messages that may wait.', { default: 1000 }),
      heartbeats: oneOf(['refuse', 'drop_oldest'], 'What a full mailbox does with a heartbeat.', { default: 'refuse' }),
      coalesceHeartbeats: boolean('Whether a heartbeat joins one that already waits.', { default: false }),
    }).optional(),
    watchdog: section("Limits of a session's watchdog.", {
      toolCallMs: duration('A tool call pending longer is cancelled and answered by a synthetic error result.', {
        default: 300_000,
      }),
      turnMs: duration('A turn without progress for so long outside any tool call is aborted.', { default: 600_000 }),
      releaseMs: duration('How long an aborted turn may take to end before it is left behind.', { default: 5_000 }),
      recoveryMs: duration("How long a recovery may take before the session's actor is restarted; above `releaseMs`.", {
        default: 30_000,
      }),
    }).optional(),
    recovery: section('What of an earlier run is taken up.', {
      maxDeliveries: integer('A message begun so often without an end is put aside.', { default: 3 }),
      maxAgeMs: duration('A message accepted longer ago is put aside.', { default: day }),
    }).optional(),
  }).optional(),
});
