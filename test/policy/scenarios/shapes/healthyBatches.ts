import { failed, healthy, ok, times } from './build.ts';
import type { Shape } from './shape.ts';
import { hash, millis, word } from './volatile.ts';

/** Batches over many things, alike in their answers. */
export const healthyBatches: readonly Shape[] = [
  healthy(
    'a hundred files written with one answer',
    times(100, (index) =>
      ok('write_file', { path: `out/part-${index}.json`, content: `{"n":${index}}` }, 'File written'),
    ),
  ),
  healthy(
    'a hundred lint runs of which seventy fail alike',
    times(100, (index) => {
      const input = { command: `npx eslint src/${word(index)}/file${index}.ts`, description: 'Lint one file' };
      return hash(index) % 10 < 7
        ? failed(
            'Bash',
            input,
            `Exit code 1\n/repo/src/${word(index)}/file${index}.ts\n  ${(hash(index) % 80) + 1}:3  error  Unexpected any`,
          )
        : ok('Bash', input, '');
    }),
  ),
  healthy(
    'an audit of dead links, nearly all of them a byte-equal 404',
    times(100, (index) => {
      const input = { url: `https://old.example.com/${word(index)}/${index}.html` };
      return index % 12 === 5
        ? ok('fetch', input, `<title>${word(index)} ${index}</title>`)
        : failed('fetch', input, 'Request failed with status code 404', { tookMs: millis(index) });
    }),
  ),
  healthy(
    'an audit of dead links whose errors name them, without one that lives',
    times(80, (index) =>
      failed(
        'fetch',
        { url: `https://old.example.com/a/${index}` },
        `Failed to fetch https://old.example.com/a/${index} - status code 404`,
      ),
    ),
  ),
  healthy(
    'a search for sixty removed names, none of which is left',
    times(60, (index) =>
      failed(
        'Bash',
        { command: `grep -rn "${word(index)}Legacy${index}" src`, description: `Look for ${word(index)}` },
        'Exit code 1',
      ),
    ),
  ),
  healthy(
    'forty packages looked up, half of them missing',
    times(40, (index) => {
      const input = { command: `npm view @acme/${word(index)}-${index} version` };
      return index % 2 === 0
        ? ok('Bash', input, `${index}.${hash(index) % 20}.0`)
        : failed(
            'Bash',
            input,
            `Exit code 1\nnpm error code E404\nnpm error 404 Not Found - @acme/${word(index)}-${index}`,
          );
    }),
  ),
  healthy(
    'a calendar without events on sixty days',
    times(60, (index) => ok('list_events', { day: index + 1 }, 'No events.')),
    { tools: { list_events: { effect: 'readOnly' } } },
  ),
  healthy(
    'fifty statements with one answer',
    times(50, (index) =>
      ok('execute_sql', { sql: `ALTER TABLE ${word(index)}_${index} ADD COLUMN seen timestamptz` }, 'ALTER TABLE'),
    ),
  ),
  healthy(
    'sixty hosts of which fifty refuse the same key',
    times(60, (index) =>
      index % 6 === 0
        ? ok('ssh', { host: `web-${index}.acme.test`, command: 'uptime' }, `up ${index} days`)
        : failed('ssh', { host: `web-${index}.acme.test`, command: 'uptime' }, 'Permission denied (publickey).', {
            kind: 'auth',
          }),
    ),
  ),
  healthy(
    'records that are validated, most of them with the same flaw',
    times(110, (index) =>
      index % 8 === 0
        ? ok('validate_record', { id: index }, 'valid')
        : failed('validate_record', { id: index }, 'email: is not an address', { kind: 'invalid' }),
    ),
    { tools: { validate_record: { effect: 'readOnly' } } },
  ),
  healthy(
    'a bundle that is built for fifty targets',
    times(50, (index) =>
      ok('Bash', { command: `GOOS=linux GOARCH=amd64 go build ./cmd/${word(index)}${index}` }, '', {
        tookMs: millis(index) * 4,
      }),
    ),
  ),
];
