import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../../src/actors/process/childEnvironment.ts';

const host = { PATH: '/bin', TOKEN: 'secret', EMPTY: '' };

describe('the environment of a child', () => {
  it('[S-1] is that of the host, what is set, and the mark of its run', () => {
    expect(childEnvironment({ env: { A: '1' } }, 'm', host)).toEqual({ ...host, A: '1', UNWEDGE_RUN: 'm' });
  });

  it('[S-1] is only what is set in mode only', () => {
    expect(childEnvironment({ env: { A: '1' }, envMode: 'only' }, 'm', host)).toEqual({ A: '1', UNWEDGE_RUN: 'm' });
  });

  it('[S-1] holds only the allowed variables of the host, and no others than are there', () => {
    const options = { envAllow: ['PATH', 'EMPTY', 'MISSING'], env: { A: '1' } };
    expect(childEnvironment(options, 'm', host)).toEqual({ PATH: '/bin', EMPTY: '', A: '1', UNWEDGE_RUN: 'm' });
  });

  it('[O-8] holds what is safe of the host in mode safe, what is allowed besides, and what is set', () => {
    const options = { envMode: 'safe', env: { A: '1' } } as const;
    expect(childEnvironment(options, 'm', host)).toEqual({ PATH: '/bin', A: '1', UNWEDGE_RUN: 'm' });
    expect(childEnvironment({ ...options, envAllow: ['TOKEN'] }, 'm', host)).toEqual({
      PATH: '/bin',
      TOKEN: 'secret',
      A: '1',
      UNWEDGE_RUN: 'm',
    });
  });

  it('[S-1] is nothing of the host when nothing is allowed', () => {
    expect(childEnvironment({ envAllow: [] }, 'm', host)).toEqual({ UNWEDGE_RUN: 'm' });
  });

  it('leaves a variable out that is set to undefined, allowed or not', () => {
    const env = { PATH: undefined };
    expect(childEnvironment({ env }, 'm', host)).not.toHaveProperty('PATH');
    expect(childEnvironment({ env, envAllow: ['PATH'] }, 'm', host)).toEqual({ UNWEDGE_RUN: 'm' });
  });

  it('always carries its own mark, whatever is set', () => {
    expect(childEnvironment({ env: { UNWEDGE_RUN: 'x' } }, 'm', host)['UNWEDGE_RUN']).toBe('m');
  });
});
