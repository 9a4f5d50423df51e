import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createGateway } from '../../src/index.ts';
import { budgetIn } from '../../src/policy/budget.ts';
import { parseJson } from '../../src/config/face.ts';
import { runHere } from '../cli/startCli.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'] as const;
const before = Reflect.ownKeys(Object.prototype);

describe('a key that every object has', () => {
  it.each(names)('[Q-6] %s is the name of an integration and a label as any other', async (name) => {
    const gateway = createGateway();
    const integration = gateway.integration<string, string>(name, {}, (input) => input);
    await gateway.start();
    expect(await integration.call('x', { label: name })).toMatchObject({ ok: true, value: 'x' });
    await gateway.stop();
  });

  it.each(names)('[Q-6] %s is refused as any word that is not known, wherever one is named', async (name) => {
    const file = join(temporaryDirectory(), 'servers.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { one: { command: 'true', env: { A: `\${${name}}` } } } }));
    for (const words of [
      [name],
      ['help', name],
      ['completion', name],
      ['machines', name],
      ['install', name],
      ['drill', name],
      ['events', '--category', name],
      ['run', `--${name}`, '--', 'true'],
      ['run', '--spend', `tokens=1/${name}`, '--', 'true'],
      ['mcp', '--servers', file],
      ['mcp', '--url', 'http://127.0.0.1:9', '--header-env', `X=${name}`],
    ]) {
      const { code, stderr } = await runHere(words);
      expect
        .soft([words, code === 2 || code === 125, stderr.includes('TypeError'), stderr.includes('    at ')])
        .toEqual([words, true, false, false]);
    }
  });

  it('[Q-6] becomes a key of what is read, and nothing of what is read into', () => {
    for (const name of names) {
      expect(Object.keys(budgetIn(`tokens=1/${name},${name}=2/day`))).toEqual([name, 'day']);
      const read = parseJson(`{"${name}": {"polluted": true}}`) as object;
      expect(Object.keys(read)).toEqual([name]);
    }
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
  });
});
