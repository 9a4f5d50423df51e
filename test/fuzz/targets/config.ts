import {
  configJsonSchema,
  createLocator,
  effectiveValues,
  environmentLayers,
  parseJson,
} from '../../../src/config/face.ts';
import { ConfigFileError } from '../../../src/config/configFile.ts';
import { ConfigError, readConfig } from '../../../src/config/face.ts';
import { repeatedKeys } from '../../../src/config/jsonPositions.ts';
import { repeatedInOpenClaw } from '../../../src/config/openClaw.ts';
import { readPattern } from '../../../src/config/readPattern.ts';
import { excessOf } from '../../../src/config/size.ts';
import { expecting, must, mustBePlain, mustBeTold, same, type Target } from '../target.ts';

const files = [
  {
    store: 'gateway.sqlite',
    policies: {
      defaults: { attemptMs: '20s' },
      integrations: {
        kb: { attemptMs: '20s', maxAttempts: 3, retry: { repeatAfter: 'lost' } },
        'mcp:*': { extends: 'mcp' },
      },
    },
  },
  {
    toolCallRetry: {
      enabled: true,
      transientPatterns: ['/model .* (warming|loading)/i', 'overloaded', '('],
      maxAttempts: 2,
    },
    inbox: true,
    alerts: { rate: 0.5 },
  },
  {
    policies: { tools: { 'kb.read': { effect: 'readOnly', keep: '1h' } } },
    redact: { names: ['x'] },
    agentProfiles: { mine: { title: 'Mine', commands: ['mine'] } },
  },
];

/** The text of a configuration file, and what is made of it: everything wrong is told as such, at a place of the text. */
export function config(): Target {
  const schema = JSON.stringify(configJsonSchema());
  return {
    seeds: [
      ...files.map((file) => JSON.stringify(file, null, 1)),
      "// a\n{ store: ':memory:', policies: { integrations: { 'a b': { attemptMs: 5, }, }, }, }",
      '{"a":1,"a":2}',
    ],
    words: [...new Set([...schema.matchAll(/"([\w$]{3,30})":/g)].map(([, name = '']) => name))],
    async run(input) {
      const text = input.toString('utf8');
      const value = expecting(() => parseJson(text), ConfigFileError);
      if (value === undefined) return;
      const locate = createLocator(text);
      for (const { path, first, last } of [...repeatedKeys(text), ...repeatedInOpenClaw(text)])
        must(first.line >= 1 && last.line >= first.line && JSON.stringify(path) !== '', 'a repeated key has no place');
      if (typeof value !== 'object' || value === null) return;
      locate(Object.keys(value).slice(0, 1));
      if (Array.isArray(value) || excessOf(value) !== undefined) return;
      const loaded = await load(value);
      if (loaded === undefined) return;
      // JSON has no word for what is no number, nor for one without end.
      if (/\b(?:Infinity|NaN)\b|\d[eE]\+?\d{3}/.test(text)) return;
      const again = await load(JSON.parse(JSON.stringify(value)) as object);
      same(
        JSON.stringify(again?.options),
        JSON.stringify(loaded.options),
        'a configuration says something else once it is written',
      );
      for (const warning of loaded.warnings) mustBePlain(warning, 'a warning');
      effectiveValues(loaded);
    },
  };
}

async function load(overrides: object) {
  try {
    return await readConfig({ cwd: '/nowhere', file: false, env: {}, overrides });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    mustBeTold(error);
    for (const { message } of error.problems) mustBePlain(message, 'a problem');
    return undefined;
  }
}

/** Variables of the environment, as lines `NAME=value`, and patterns that take what they are given in linear time. */
export function environment(): Target {
  const { layers } = environmentLayers({});
  return {
    seeds: [
      'UNWEDGE_STORE=a.sqlite\nUNWEDGE_ATTEMPT_MS=5000\nUNWEDGE_INBOX=true',
      'UNWEDGE_TOOL_CALL_RETRY=false\nUNWEDGE_X=1\nUNWEDGE_RUN=a',
      '/^a+$/i',
      'a.*b|c',
    ],
    // A variable that is unknown is held against all that are known.
    mostSteps: (bytes) => 3_000_000 + 1000 * bytes,
    words: ['UNWEDGE_', '(a+)+$', '[[:alpha:]]', '\\p{L}', '(?i)', '{1,1000}'],
    async run(input) {
      const rows = input
        .toString('utf8')
        .split('\n')
        .slice(0, 20)
        .map((line) => line.split('=', 2));
      const env = Object.fromEntries(rows.map(([name = '', value = '']) => [name, value]));
      const read = environmentLayers(env);
      must(read.layers.length + read.warnings.length >= layers.length, 'a variable is lost');
      try {
        await readConfig({ cwd: '/nowhere', file: false, env });
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
      }
      const pattern = input.toString('utf8').slice(0, 200);
      const test = await readPattern('p', pattern).catch((error: unknown) => {
        if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
        return undefined;
      });
      if (typeof test === 'object') test.test(`${'a'.repeat(500)}!`);
    },
  };
}
