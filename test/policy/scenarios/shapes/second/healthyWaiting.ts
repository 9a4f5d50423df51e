import { by, failed, healthy, ok, times } from '../build.ts';
import type { Shape } from '../shape.ts';
import { hex, reads } from './make.ts';

export const healthyWaiting: readonly Shape[] = [
  healthy(
    'a limit that says when it ends',
    times(25, () =>
      failed('translate', { to: 'pt-BR' }, 'Too many requests, please retry after 30 seconds', { kind: 'rate_limit' }),
    ),
  ),
  healthy(
    'maintenance with an end',
    times(25, () =>
      failed('post_invoice', { number: 7 }, 'Maintenance until 14:30 UTC, try again then', { kind: 'transient' }),
    ),
  ),
  healthy(
    'waiting for a message: a minute at a time',
    times(25, () =>
      failed('wait_for_mail', { from: 'bank@example.org' }, 'no message arrived', { kind: 'timeout', tookMs: 60_000 }),
    ),
  ),
  healthy(
    'a lock that is held, and a pause of half a minute before each try',
    times(15, () => [
      ok('sleep', { seconds: 30 }, 'done', { tookMs: 30_000 }),
      failed('terraform', { args: ['plan'] }, 'Error: Error acquiring the state lock: held by ci@runner'),
    ]),
  ),
  healthy(
    'a question to a person with a date by which it is answered',
    times(25, () => ok('approval_status', { id: 12 }, 'Pending. Ana has until 16:45 to answer.')),
    reads('approval_status'),
  ),
  healthy(
    'a pipeline that is polled, and declared so',
    times(40, () => ok('get_run', { run: 88 }, '{"status":"in_progress","jobs":[{"name":"build","step":"compile"}]}')),
    { tools: { get_run: { effect: 'readOnly', poll: true } } },
  ),
  healthy(
    'a long poll: each answer takes 25 s',
    times(40, () => ok('next_event', { cursor: 'tail' }, '[]', { tookMs: 25_000 })),
    reads('next_event'),
  ),
  healthy(
    'twelve sub-agents, each fails alike three times',
    times(12, (agent) =>
      by(
        `crawler-${agent}`,
        times(3, () => failed('fetch', { url: 'https://intranet.example/' }, 'getaddrinfo ENOTFOUND intranet.example')),
      ),
    ),
  ),
  healthy(
    'a mail to each of sixty customers',
    times(60, (round) => ok('send_mail', { to: `${hex(round, 9)}@example.org`, template: 'avis' }, 'queued')),
  ),
  healthy(
    'a deployment: retried three times by hand, then mended, eight services',
    times(8, (service) => [
      ...times(3, () => failed('deploy', { service }, `service ${service}: image not found`)),
      ok('push_image', { service }, 'pushed'),
      ok('deploy', { service }, `service ${service}: deployed`),
    ]),
  ),
];
