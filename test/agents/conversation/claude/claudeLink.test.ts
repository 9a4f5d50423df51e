import { describe, expect, it, onTestFinished } from 'vitest';
import type {
  SdkProcess,
  SdkQueryFunction,
  SdkSpawnOptions,
} from '../../../../agents/conversation/claude/agentSdkTypes.ts';
import { openLink } from '../../../../agents/conversation/claude/claudeLink.ts';
import { checkGatewayOptions } from '../../../../src/runtime/runtimeOptions.ts';
import { Registry } from '../../../../src/runtime/registry.ts';

const hang: SdkSpawnOptions = {
  command: process.execPath,
  args: ['-e', 'setInterval(() => {}, 1000)'],
  env: process.env,
};
const flood: SdkSpawnOptions = {
  ...hang,
  args: ['-e', 'process.stdout.write("x".repeat(4e6)); setInterval(() => {}, 1000)'],
};

/** A query that does as it is told, on a runtime of its own. */
async function open(work: (spawn: (asked: SdkSpawnOptions) => SdkProcess) => AsyncIterable<unknown>) {
  const registry = new Registry(checkGatewayOptions({}));
  await registry.start();
  onTestFinished(() => registry.stop());
  const query: SdkQueryFunction = ({ options = {} }) => {
    const messages = work(options['spawnClaudeCodeProcess'] as (asked: SdkSpawnOptions) => SdkProcess);
    return {
      interrupt: () => Promise.resolve(),
      [Symbol.asyncIterator]: () => messages[Symbol.asyncIterator](),
    };
  };
  return openLink({ runtime: registry.runtime, query, processId: 'process:1', graceMs: 0, options: {} });
}

describe('the link to a query', () => {
  it('[I-3] ends a process that is asked for after its end', async () => {
    let spawn: ((asked: SdkSpawnOptions) => SdkProcess) | undefined;
    const link = await open((given) => {
      spawn = given;
      throw new Error('no');
    });
    await link.ended;
    const child = spawn?.(hang);
    const signal = await new Promise((resolve) => {
      child?.once('exit', (_: unknown, by?: unknown) => resolve(by));
    });
    expect(signal).toMatch(/^SIG/);
  });

  it('[I-3] holds no more listeners the longer its reader is slow', async () => {
    let listeners = 0;
    const link = await open(async function* (spawn) {
      const child = spawn(flood);
      let bytes = 0;
      for await (const chunk of child.stdout) {
        bytes += (chunk as Buffer).length;
        listeners = Math.max(listeners, child.stdout.listenerCount('close'));
        if (bytes >= 4e6) return;
        yield {};
      }
    });
    await link.ended;
    expect(listeners).toBeLessThan(5);
  });

  it('[I-1] [I-3] is closed though nobody reads what the process says', async () => {
    const link = await open(async function* (spawn) {
      const child = spawn(flood);
      yield await new Promise(() => child);
    });
    await link.close();
    expect(link.isOpen).toBe(false);
  });
});
