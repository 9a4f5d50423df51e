import { failed, healthy, ok, times } from './build.ts';
import type { Shape } from './shape.ts';
import { hash, hex, iso, uuid, word } from './volatile.ts';

/** Lists and files that are read piece by piece. */
export const healthyPages: readonly Shape[] = [
  healthy(
    'a list by its cursor',
    times(70, (index) =>
      ok(
        'list_issues',
        { first: 50, after: hex(index, 16) },
        `{"items":[{"number":${index * 50}}],"next":"${hex(index + 1, 16)}"}`,
      ),
    ),
    { tools: { list_issues: { effect: 'readOnly' } } },
  ),
  healthy(
    'a list whose pages are all empty',
    times(60, (index) => ok('list_events', { cursor: hex(index, 16) }, '{"items":[],"has_more":true}')),
    { tools: { list_events: { effect: 'readOnly' } } },
  ),
  healthy(
    'a next page by an equal call',
    times(60, (index) =>
      ok('next_page', { list: 'orders' }, `order of ${word(index)} ${word(hash(index))}, ${hash(index) % 900} EUR`),
    ),
    { tools: { next_page: { effect: 'readOnly' } } },
  ),
  healthy(
    'records that differ by their id alone',
    times(50, (index) => ok('next_record', {}, `{"record":"${uuid(index)}","state":"open"}`)),
    { tools: { next_record: { effect: 'readOnly' } } },
  ),
  healthy(
    'a head that moves with each commit',
    times(40, (index) => [
      ok('git_commit', { message: `Step ${index}` }, 'committed'),
      ok('git_rev_parse', { rev: 'HEAD' }, hex(index, 40)),
    ]),
    { tools: { git_rev_parse: { effect: 'readOnly' } } },
  ),
  healthy(
    'a large file in pieces',
    [
      failed(
        'Read',
        { file_path: '/repo/big.log' },
        'File content (312.4KB) exceeds maximum allowed size (256KB). Use offset and limit parameters to read specific portions of the file.',
      ),
      ...times(80, (index) =>
        ok(
          'Read',
          { file_path: '/repo/big.log', offset: index * 200, limit: 200 },
          `${index * 200}→${iso(index)} GET /${word(index)} 200`,
        ),
      ),
    ],
    { tools: { Read: { effect: 'readOnly' } } },
  ),
  healthy(
    'messages that are received one by one',
    times(50, (index) =>
      ok(
        'receive_message',
        { queue: 'in', max: 1 },
        `{"messageId":"${uuid(index)}","body":"pack ${word(index)} for ${hex(index, 6)}"}`,
      ),
    ),
  ),
  healthy(
    'rows of an open cursor',
    times(60, (index) =>
      ok('query', { sql: 'FETCH NEXT FROM c' }, ` id | name\n----+------\n ${index + 1} | ${word(index)}`),
    ),
    { tools: { query: { effect: 'readOnly' } } },
  ),
  healthy(
    'queries without a result, each other words',
    times(50, (index) =>
      ok('web_search', { query: `"${word(index)} ${word(index * 3 + 1)}" error ${index}` }, 'No results found.'),
    ),
    { tools: { web_search: { effect: 'readOnly' } } },
  ),
  healthy(
    'a log that grows by lines of one wording, each with its number',
    times(60, (index) =>
      ok(
        'tail',
        { file: 'app.log', lines: 1 },
        `${iso(index * 2)} INFO handled order ${7000 + index} in ${hash(index) % 90} ms`,
      ),
    ),
    { tools: { tail: { effect: 'readOnly' } } },
  ),
];
