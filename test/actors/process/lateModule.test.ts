import { expect, it, vi } from 'vitest';
import { lateModule, loadFailure } from '../../../src/actors/process/lateModule.ts';

const shortage = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', errno: -24 });

it('[S-4] a module that could not be loaded is loaded for whoever asks next, and once', async () => {
  const load = vi.fn<() => Promise<string>>().mockRejectedValueOnce(shortage).mockResolvedValue('module');
  const module = lateModule(load);
  await expect(module()).rejects.toBe(shortage);
  expect(await Promise.all([module(), module()])).toEqual(['module', 'module']);
  expect(load).toHaveBeenCalledTimes(2);
});

it('[S-4] a load that throws at once is tried again, too', async () => {
  let times = 0;
  const module = lateModule(() => {
    if (++times === 1) throw shortage;
    return Promise.resolve('module');
  });
  await expect(module()).rejects.toBe(shortage);
  expect(await module()).toBe('module');
});

it('[S-4] a load that this process is short of files for is no crash', () => {
  expect(loadFailure('It could not be loaded', shortage)).toMatchObject({
    kind: 'transient',
    code: 'EMFILE',
    outcome: 'not_started',
    breaker: 'ignored',
  });
  expect(loadFailure('It could not be loaded', new Error('broken'))).toMatchObject({ kind: 'crash' });
});
