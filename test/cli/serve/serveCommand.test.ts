import { describe, expect, it } from 'vitest';
import { listenPlace } from '../../../cli/serve/serveCommand.ts';

const given = { port: 7420, listen: undefined, 'token-file': undefined, 'no-token': false };

describe('where `unwedge serve` listens', () => {
  it.each([
    [{}, { host: '127.0.0.1', port: 7420 }],
    [{ port: 80 }, { host: '127.0.0.1', port: 80 }],
    [{ listen: '127.0.0.1:0' }, { host: '127.0.0.1', port: 0 }],
    [{ listen: 'localhost:9000' }, { host: '127.0.0.1', port: 9000 }],
    [
      { listen: '127.0.0.1:9000', 'no-token': true },
      { host: '127.0.0.1', port: 9000 },
    ],
    [
      { listen: '0.0.0.0:7420', 'token-file': 'token' },
      { host: '0.0.0.0', port: 7420 },
    ],
    [
      { listen: '[::]:7420', 'token-file': 'token' },
      { host: '::', port: 7420 },
    ],
  ])('[E-1] with %j', (args, place) => {
    expect(listenPlace({ ...given, ...args })).toEqual(place);
  });

  it.each([
    [{ listen: '0.0.0.0:7420' }, /needs --token-file/],
    [{ listen: '0.0.0.0:7420', 'token-file': 'token', 'no-token': true }, /needs --token-file/],
    [{ listen: 'gateway.example:7420' }, /ADDRESS:PORT.*"gateway\.example:7420"/],
    [{ listen: '7420' }, /ADDRESS:PORT.*"7420"/],
    [{ listen: '127.0.0.1:70000' }, /ADDRESS:PORT.*"127\.0\.0\.1:70000"/],
    [{ listen: '127.0.0.1:9000', port: 80 }, /`--port` or `--listen`, got both/],
  ])('[E-1] refuses %j', (args, error) => {
    expect(() => listenPlace({ ...given, ...args })).toThrow(error);
  });
});
