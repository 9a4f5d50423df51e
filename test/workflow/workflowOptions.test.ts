import { describe, expect, it } from 'vitest';
import { workflowKind } from '../../workflow/workflow.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { WorkflowOptions, WorkflowRunOptions } from '../../workflow/workflowTypes.ts';
import { backend, item } from './startWorkflow.ts';

const primary = backend('primary', [item('a')]);

describe('the options of a workflow', () => {
  it.each<[object, string]>([
    [{}, 'Expected `w.backends` to be an array of at least one backend, got undefined'],
    [{ backends: [] }, 'Expected `w.backends` to be an array of at least one backend, got an array of 0'],
    [{ backends: [7] }, 'Expected `w.backends[0]` to be an object, got 7'],
    [{ backends: [{ ...primary, plans: 1 }] }, 'Unknown option `w.backends[0].plans`'],
    [
      { backends: [{ ...primary, name: 'a b' }] },
      'Expected `w.backends[0].name` to be letters, digits, - and _, got "a b"',
    ],
    [{ backends: [{ ...primary, name: 'a.b' }] }, 'letters, digits, - and _'],
    [{ backends: [primary, primary] }, 'Expected `w.backends[1].name` to be unique, got "primary" again'],
    [{ backends: [{ ...primary, plan: undefined }] }, 'Expected `w.backends[0].plan` to be a function'],
    [{ backends: [{ ...primary, item: 1 }] }, 'Expected `w.backends[0].item` to be a function'],
    [{ backends: [{ ...primary, summary: 1 }] }, 'Expected `w.backends[0].summary` to be a function'],
    [{ backends: [{ ...primary, isCritical: 1 }] }, 'Expected `w.backends[0].isCritical` to be a function'],
    [{ backends: [{ ...primary, policy: 1 }] }, 'Expected `w.backends[0].policy` to be an object'],
    [{ backends: [{ ...primary, policy: { retries: 1 } }] }, 'Unknown option `workflow:w:primary.policy.retries`'],
    [
      { backends: [{ ...primary, itemPolicy: { retry: { maxAttempts: 0 } } }] },
      'workflow:w:primary:items.policy.retry.maxAttempts',
    ],
    [{ backends: [primary], concurrency: 0 }, 'Expected `w.concurrency` to be a positive integer, got 0'],
    [
      { backends: [primary], overallMs: Number.POSITIVE_INFINITY },
      'Expected `w.overallMs` to be a duration above 0 (ms, or text such as 30s)',
    ],
    [{ backends: [primary], overall: 1 }, 'Unknown option `w.overall`'],
  ])('refuses %j', (options, text) => {
    expect(() =>
      createGateway({ kinds: [workflowKind] }).workflow('w', options as WorkflowOptions<string, string, string>),
    ).toThrow(text);
  });

  it('leave nothing behind when they are refused', async () => {
    const gateway = createGateway({ kinds: [workflowKind] });
    const wrong = backend('fallback', [], { itemPolicy: { maxInFlight: 0 } });
    expect(() => gateway.workflow('w', { backends: [primary, wrong] })).toThrow('maxInFlight');
    expect(gateway.workflow('w', { backends: [primary] }).name).toBe('w');
    await gateway.start();
    await gateway.stop();
  });

  it('takes no name of an integration that there is', () => {
    const gateway = createGateway({ kinds: [workflowKind] });
    gateway.workflow('a', { backends: [backend('b', [])] });
    const same = (): unknown => gateway.workflow('a:b', { backends: [backend('items', [])] });
    expect(same).toThrow('The name `workflow:a:b:items` is taken by another integration');
  });
});

describe('the options of a run', () => {
  it.each<[object, string]>([
    [{ signal: 1 }, 'Expected `options.signal` to be an AbortSignal, got 1'],
    [{ session: '' }, 'Expected `options.session` to be a non-empty string'],
    [{ sesion: 'x' }, 'did you mean session?'],
  ])('refuse %j', (options, text) => {
    const workflow = createGateway({ kinds: [workflowKind] }).workflow('w', { backends: [primary] });
    expect(() => workflow.run('x', options as WorkflowRunOptions)).toThrow(text);
  });
});
