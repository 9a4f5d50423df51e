import { describeDriver } from '../reader/describeDriver.ts';
import { defineCommand } from './command.ts';
import { ownVersion } from './doctor/ownVersion.ts';
import { toJson } from './sanitize.ts';

/** Runtimes that say they are Node. */
const titles = { bun: 'Bun', deno: 'Deno' } as const;

export const command = defineCommand({
  usage: 'version [--json]',
  details: '`unwedge --version` prints the one of unwedge alone.',
  options: {},
  async run({ json }, io) {
    const sqlite = await describeDriver();
    const { version: node, platform, arch, versions } = process;
    const other = (['bun', 'deno'] as const).find((name) => versions[name] !== undefined);
    const runtime = other === undefined ? {} : { [other]: versions[other] };
    if (json) io.stdout.write(toJson({ version: ownVersion(), node, ...runtime, platform, arch, sqlite }));
    else {
      const driver = sqlite.ok ? `${sqlite.driver}${sqlite.version === undefined ? '' : ` ${sqlite.version}`}` : '';
      io.stdout.write(
        [
          `unwedge ${ownVersion()}`,
          `${other === undefined ? '' : `${titles[other]} ${versions[other]}, as `}Node ${node.slice(1)} (${platform} ${arch})`,
          sqlite.ok ? `SQLite ${sqlite.sqlite}, by ${driver}` : `SQLite: ${sqlite.reason}; ${sqlite.fix}`,
          '',
        ].join('\n'),
      );
    }
    return 0;
  },
});
