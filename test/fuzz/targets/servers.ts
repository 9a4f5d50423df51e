import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '../../../cli/errors.ts';
import { fieldsIn, judgeServers, misspeltKeys, readServersFile, serversIn } from '../../../cli/mcp/serversFile.ts';
import { expecting, must, mustBePlain, mustBeTold, type Target } from '../target.ts';

const files = [
  {
    mcpServers: {
      kb: { command: 'npx', args: ['-y', 'kb', '${KEY}'], env: { TOKEN: '${TOKEN:-none}' }, cwd: '/srv' },
      'my server': { command: '/bin/srv', handshakeMs: '90s', disabled: false },
    },
  },
  {
    mcpServers: {
      far: { url: 'https://127.0.0.1/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
      old: { type: 'sse', url: '${URL:-http://127.0.0.1}/sse' },
      off: { cmd: 'x', disabled: true },
    },
    agents: {},
  },
];

/** The file that `unwedge mcp --servers` and `unwedge serve --config` read: a server that is taken can be started, and the others are told in plain words. */
export function serverFiles(): Target {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-fuzz-'));
  const path = join(directory, 'servers.json');
  const env = { KEY: 'k', TOKEN: '${KEY}', URL: 'http://127.0.0.1' };
  return {
    seeds: [...files.map((file) => JSON.stringify(file)), "// a\n{ mcpServers: { 'a b': { command: 'x', }, }, }"],
    words: ['${KEY}', '${NONE}', '${NONE:-x}', '__proto__', 'mcpServers'],
    // A key that nobody reads is held against all that are known.
    mostSteps: (bytes) => 200_000 + 3000 * bytes,
    async run(input) {
      writeFileSync(path, input);
      const content = await readServersFile(path).catch((error: unknown) => {
        if (!(error instanceof CommandError)) throw error;
        mustBeTold(error);
      });
      const table = fieldsIn(fieldsIn(content)?.['mcpServers']);
      for (const note of misspeltKeys(table)) mustBePlain(note, 'a note');
      if (table !== undefined) judgeServers(table, undefined);
      const found = expecting(() => serversIn(path, content, env), CommandError);
      if (found === undefined) return;
      for (const note of found.notes) mustBePlain(note, 'a note');
      const names = found.servers.map(({ name }) => name);
      must(new Set(names).size === names.length, 'two servers have one name');
      for (const { name, command, remote } of found.servers) {
        must(/^[\w-]{1,40}$/.test(name), `${name} is no beginning of a name of a tool`);
        must((command === undefined) !== (remote === undefined), `${name} is to be started and reached`);
        must(command === undefined || !command.includes('\0'), `${name} is a program that no system starts`);
      }
    },
    close: async () => rmSync(directory, { recursive: true, force: true }),
  };
}
