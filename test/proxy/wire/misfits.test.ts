import { describe, expect, it } from 'vitest';
import { Misfits } from '../../../proxy/wire/misfits.ts';
import { readMessage } from '../../../src/protocol/mcp/message.ts';

function kept(lines: readonly string[]) {
  const [answers, said]: [object[], string[]] = [[], []];
  const misfits = new Misfits(
    (line) => answers.push(JSON.parse(line) as object),
    (line) => said.push(line),
  );
  return { kept: lines.map((line) => misfits.keeps(readMessage(line), line)), answers, said };
}
const call = (id: string, params = '{"name":"act"}'): string => `{${id}"method":"tools/call","params":${params}}`;

describe('a message that no server is to have', () => {
  it.each(['null', '{"a":1}', 'true', '[1]', '1e999'])(
    '[P-3] [P-11] is a request with an id that is none: %s',
    (id) => {
      const { kept: of, answers } = kept([call(`"id":${id},`)]);
      expect([of, answers]).toEqual([[true], [{ jsonrpc: '2.0', id: null, error: expect.any(Object) as object }]]);
      expect(answers).toMatchObject([{ error: { code: -32_600 } }]);
    },
  );

  it.each(['[]', 'null', '"x"', '7', '{}', '{"id":1}', '{"method":1}'])(
    '[P-3] is JSON that is none, and is answered: %s',
    (line) => {
      const { kept: of, answers } = kept([line]);
      expect([of, answers]).toMatchObject([[true], [{ id: null, error: { code: -32_600 } }]]);
    },
  );

  it.each(['initialize', 'ping', 'tools/call', 'prompts/get', 'tasks/cancel', 'subscriptions/listen'])(
    '[P-3] [P-11] is a request without an id, which is told of once: %s',
    (method) => {
      const line = JSON.stringify({ jsonrpc: '2.0', method });
      const { kept: of, answers, said } = kept([line, line]);
      expect([of, answers]).toEqual([[true, true], []]);
      expect(said).toEqual([`The client sent "${method}" without an id: it was not passed on`]);
    },
  );

  it.each(['{"name":["act"]}', '{"name":5}', '{"name":null}', '{}', '["act"]', '7'])(
    '[P-11] is a call of a tool whose name is no string: %s',
    (params) => {
      const { kept: of, answers } = kept([call('"id":"a",', params)]);
      expect([of, answers]).toMatchObject([[true], [{ id: 'a', error: { code: -32_602 } }]]);
    },
  );

  it.each([
    ['name', call('"id":"a",', '{"name":"del","name":"a"}')],
    ['name', call('"id":"a",', '{"name":"del","arguments":{},"n\\u0061me":"a"}')],
    ['NAME', call('"id":"a",', '{"name":"a","NAME":"del"}')],
    ['arguments', call('"id":"a",', '{"name":"a","arguments":{"path":"x"},"arguments":{}}')],
    ['_meta', call('"id":"a",', '{"_meta":{},"name":"a","_meta":{"progressToken":1}}')],
    ['params', '{"id":"a","params":{"name":"del"},"method":"tools/call","params":{"name":"a"}}'],
    ['Params', '{"id":"a","params":{"name":"a"},"method":"tools/call","Params":{"name":"del"}}'],
    ['paramſ', '{"id":"a","params":{"name":"a"},"method":"tools/call","paramſ":{"name":"del"}}'],
    ['method', '{"method":"tools/call","id":"a","method":"tools/list"}'],
    ['method', '{"method":"tools/call","id":"a","method":"custom/x","params":[1]}'],
    ['id', '{"id":1,"method":"tools/list","id":"a"}'],
    ['jsonrpc', '{"jsonrpc":"1.0","jsonrpc":"2.0","method":"tools/list","id":"a"}'],
  ])('[P-11] [P-3] is a request with the member %s twice, whichever a server reads: %s', (member, line) => {
    const { kept: of, answers } = kept([line]);
    expect([of, answers]).toMatchObject([[true], [{ id: 'a', error: { code: -32_600 } }]]);
    expect(JSON.stringify(answers)).toContain(`it has the member \\"${member}\\" twice`);
  });

  it('[P-11] [P-3] is a notification with a member twice, which is told of once', () => {
    const line = '{"method":"tools/call","params":{"name":"del"},"method":"notifications/x"}';
    const { kept: of, answers, said } = kept([line, line]);
    expect([of, answers]).toEqual([[true, true], []]);
    expect(said).toEqual(['The client sent "notifications/x" with the member "method" twice: it was not passed on']);
  });

  it.each([
    '{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"name":"b","id":1,"params":{}}}}',
    '{"id":1,"method":"custom/x","params":[{"a":1},{"a":1}]}',
    '{"id":1,"result":{"a":1}}',
    call('"id":0,'),
    call('"id":"",', '{"name":""}'),
    '{"id":1,"method":"custom/x"}',
    '{"method":"custom/x"}',
    '{"method":"notifications/initialized"}',
    '{"id":null,"method":"notifications/initialized"}',
    '{"id":1,"result":{}}',
    '{"id":null,"error":{}}',
    '[1]',
    'no JSON',
  ])('[P-3] is not one that is, or is to be read otherwise: %s', (line) => {
    expect(kept([line])).toEqual({ kept: [false], answers: [], said: [] });
  });
});
