import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { describe, expect, it } from 'vitest';
import { configJsonSchema } from '../../src/config/jsonSchema.ts';
import { variableNames } from '../../src/config/keys.ts';
import { loadConfig } from '../../src/config/loadConfig.ts';
import { folderWith } from './folder.ts';

const schema = configJsonSchema();
const validate = new AjvJsonSchemaValidator().getValidator(schema);

const good: readonly object[] = [
  {},
  { $schema: './node_modules/unwedge/dist/config.schema.json', store: 'x.sqlite' },
  { retention: false, alerts: { failures: 1, integrations: { kb: false, db: { quietMs: '1h' } } } },
  {
    alerts: {
      webhook: { url: 'https://x.example', headers: { a: 'b' } },
      command: { command: 'notify', args: ['-q'] },
    },
  },
  { policies: { presets: { slow: { extends: 'sdk', limits: { idleMs: 'infinity' }, attemptMs: 5 } } } },
  { policies: { integrations: { kb: { effect: 'readOnly', tools: { q: { longRunningMs: '20m' } } } } } },
  {
    policies: {
      presets: { a: { retry: { backoff: { kind: 'constant', delayMs: 0, jitter: { kind: 'full' } } } } },
    },
  },
  { policies: { presets: { a: { retry: { backoff: { initialMs: '200ms', maxMs: 5000, factor: 3 } } } } } },
  { policies: { presets: { a: { retry: { backoff: { kind: 'constant', delayMs: '1s' } } } } } },
  { toolCallRetry: { backoffMs: ['1s', 5], transientPatterns: ['a', '/b/i'] } },
  { sessions: { mailbox: { heartbeats: 'drop_oldest' }, watchdog: { turnMs: '1.5h' } } },
];

const bad: readonly object[] = [
  { stor: 'x' },
  { store: '' },
  { alerts: true },
  { alerts: { failures: 0 } },
  { alerts: { failures: 1.5 } },
  { alerts: { windowMs: 0 } },
  { alerts: { windowMs: '0s' } },
  { alerts: { windowMs: '5 minutes' } },
  { alerts: { webhook: {} } },
  { retention: { maxBytes: 999_999 } },
  { synchronous: 'full' },
  { policies: { integrations: { kb: { timeout: 5 } } } },
  { policies: { integrations: { kb: { tools: { q: { effect: 'none' } } } } } },
  { policies: { presets: { a: { effect: 'readOnly' } } } },
  { policies: { presets: { a: { breaker: { failureRatio: 1.1 } } } } },
  {
    policies: {
      presets: { a: { retry: { backoff: { kind: 'list', delaysMs: [], jitter: { kind: 'none' } } } } },
    },
  },
  { policies: { presets: { a: { retry: { backoff: { initialMs: 1 } } } } } },
  { policies: { presets: { a: { retry: { backoff: { initialMs: 0, maxMs: 1 } } } } } },
  { toolCallRetry: { backoffMs: [] } },
  { toolCallRetry: { transientPatterns: [5] } },
];

describe('the JSON schema', () => {
  it.each(good)('allows what loadConfig allows: %j', async (config) => {
    expect(validate(config)).toMatchObject({ valid: true });
    const cwd = folderWith({ 'unwedge.config.json': JSON.stringify(config) });
    await expect(loadConfig({ cwd, env: {} })).resolves.toBeDefined();
  });

  it.each(bad)('refuses what loadConfig refuses: %j', async (config) => {
    expect(validate(config)).toMatchObject({ valid: false });
    const cwd = folderWith({ 'unwedge.config.json': JSON.stringify(config) });
    await expect(loadConfig({ cwd, env: {} })).rejects.toThrow('unwedge.config.json');
  });

  it('says to editors what a key is, and its default', () => {
    expect(schema).toMatchObject({
      $schema: 'http://json-schema.org/draft-07/schema#',
      additionalProperties: false,
      properties: {
        alerts: {
          anyOf: [{ const: false }, { properties: { windowMs: { default: '10m' }, failures: { default: 5 } } }],
        },
        toolCallRetry: {
          properties: {
            maxAttempts: {
              description:
                'Attempts in all of a call by a session, the first included; a lower `maxAttempts` of its integration holds, a higher one does not. (UNWEDGE_TOOL_CALL_RETRY_MAX_ATTEMPTS)',
              minimum: 1,
              default: 3,
            },
          },
        },
      },
    });
  });

  it('[G-10] names the variable of every key that has one, and of no other', () => {
    const text = JSON.stringify(schema);
    const named = [...text.matchAll(/ \((UNWEDGE_\w+)\)"/g)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set(variableNames));
    expect(named).toHaveLength(variableNames.length);
    expect(schema).toMatchObject({
      properties: { store: { description: expect.stringMatching(/ \(UNWEDGE_DB\)$/) as string } },
    });
  });

  it('holds nothing of ours beside what JSON schema knows, and closes every object', () => {
    const words = new Set([
      '$schema',
      '$ref',
      'title',
      'description',
      'default',
      'type',
      'const',
      'enum',
      'properties',
      'required',
      'additionalProperties',
      'propertyNames',
      'items',
      'minItems',
      'anyOf',
      'oneOf',
      'allOf',
      'definitions',
      'minimum',
      'maximum',
      'exclusiveMinimum',
      'minLength',
      'pattern',
    ]);
    const odd: string[] = [];
    const walk = (node: unknown, path: string, isNames = false): void => {
      if (typeof node !== 'object' || node === null) return;
      const { properties, additionalProperties } = node as { properties?: unknown; additionalProperties?: unknown };
      if (!isNames && properties !== undefined && additionalProperties !== false) odd.push(`open: ${path}`);
      for (const [key, each] of Object.entries(node)) {
        if (!isNames && !Array.isArray(node) && !words.has(key)) odd.push(`${path}/${key}`);
        if (key !== 'default' && key !== 'enum' && key !== 'required')
          walk(each, `${path}/${key}`, !isNames && (key === 'properties' || key === 'definitions'));
      }
    };
    walk(schema, '');
    expect(odd).toEqual([]);
  });
});
