import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { deliverPrompt } from '../../../src/actors/prompt/promptDelivery.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

describe('a prompt', () => {
  it('[S-5] goes by stdin where nothing else is said', async () => {
    expect(await deliverPrompt('hi', { args: ['-p'] })).toMatchObject({ args: ['-p'], stdin: 'hi' });
  });

  it('[S-5] of 10,000 bytes takes the place of {prompt}, one of 10,001 goes by stdin', async () => {
    const [short, long] = ['é'.repeat(5000), `${'é'.repeat(5000)}x`];
    const args = ['--quiet', '{prompt}', 'end'];
    expect(await deliverPrompt(short, { args })).toMatchObject({ args: ['--quiet', short, 'end'], stdin: undefined });
    expect(await deliverPrompt(long, { args })).toMatchObject({ args: ['--quiet', 'end'], stdin: long });
  });

  it('[S-5] with a null byte cannot be an argument', async () => {
    expect(await deliverPrompt('a\0b', { args: ['{prompt}'] })).toMatchObject({ args: [], stdin: 'a\0b' });
  });

  it('[S-5] [Q-6] that begins with a dash is no argument of its own, where it would be an option', async () => {
    const prompt = '--dangerously-skip-permissions';
    expect(await deliverPrompt(prompt, { args: ['-p', '{prompt}'] })).toMatchObject({ args: ['-p'], stdin: prompt });
    expect(await deliverPrompt(prompt, { args: ['-p'], promptBy: 'argument' })).toMatchObject({ stdin: prompt });
    expect((await deliverPrompt(prompt, { args: ['--', '{prompt}'] })).args).toEqual(['--', prompt]);
    expect((await deliverPrompt(prompt, { args: ['--text={prompt}'] })).args).toEqual([`--text=${prompt}`]);
  });

  it('[S-5] too long for a part of an argument is refused before anything is started', async () => {
    const delivery = deliverPrompt('x'.repeat(10_001), { args: ['--text={prompt}'] });
    const facts = { kind: 'permanent', reason: 'message_too_large', outcome: 'not_started' };
    await expect(delivery).rejects.toMatchObject({ facts });
  });

  it('[S-5] is put into a private file for {promptFile}, whatever its size', async () => {
    const directory = temporaryDirectory();
    const { args, stdin, remove } = await deliverPrompt('hi', { args: ['--file={promptFile}'], directory });
    expect(readFileSync(args[0]?.slice('--file='.length) ?? '', 'utf8')).toBe('hi');
    expect(stdin).toBeUndefined();
    await remove();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('[S-5] comes last where there is no placeholder', async () => {
    expect((await deliverPrompt('hi', { args: ['a'], promptBy: 'argument' })).args).toEqual(['a', 'hi']);
    const delivered = await deliverPrompt('hi', { args: ['a'], promptBy: 'file', directory: temporaryDirectory() });
    expect(delivered.args).toEqual(['a', expect.stringMatching(/unwedge-prompt-.*\/prompt$/)]);
    await delivered.remove();
  });

  it('[S-5] is taken literally, placeholders and patterns included', async () => {
    const prompt = '{prompt} {promptFile} $& $(rm -rf /) `x`';
    expect((await deliverPrompt(prompt, { args: ['{prompt}'] })).args).toEqual([prompt]);
  });

  it('[S-5] that is said to go by stdin leaves the arguments as they are', async () => {
    const args = ['{prompt}', '--x={prompt}', '{promptFile}'];
    const delivered = await deliverPrompt('x'.repeat(10_001), { args, promptBy: 'stdin' });
    expect(delivered).toMatchObject({ args, stdin: 'x'.repeat(10_001) });
  });

  it('[S-5] that is empty is refused before anything is started', async () => {
    const facts = { kind: 'permanent', message: 'The prompt is empty', outcome: 'not_started' };
    for (const prompt of ['', ' \n'])
      await expect(deliverPrompt(prompt, { args: [] })).rejects.toMatchObject({ facts });
  });

  it('[S-5] cannot go by stdin together with something else', async () => {
    await expect(deliverPrompt('hi', { args: [], stdin: 'other' })).rejects.toMatchObject({
      facts: { kind: 'permanent' },
    });
  });

  it('[S-5] that cannot be written says why', async () => {
    const delivery = deliverPrompt('hi', { args: ['{promptFile}'], directory: '/no/such/directory' });
    await expect(delivery).rejects.toMatchObject({ facts: { kind: 'spawn', code: 'ENOENT', outcome: 'not_started' } });
  });
});
