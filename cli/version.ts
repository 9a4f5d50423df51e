import { describeDriver } from '../reader/describeDriver.ts';
import { defineCommand } from './command.ts';
import { ownVersion } from './doctor/ownVersion.ts';
import { toJson } from './sanitize.ts';

export const command = defineCommand({
  usage: 'version [--json]',
  details: '`unwedge --version` prints the one of unwedge alone.',
  options: {},
  async run({ json }, io) {
    const sqlite = await describeDriver();
    const { version: node, platform, arch } = process;
    if (json) io.stdout.write(toJson({ version: ownVersion(), node, platform, arch, sqlite }));
    else {
      const driver = sqlite.ok ? `${sqlite.driver}${sqlite.version === undefined ? '' : ` ${sqlite.version}`}` : '';
      io.stdout.write(
        [
          `unwedge ${ownVersion()}`,
          `Node ${node.slice(1)} (${platform} ${arch})`,
          sqlite.ok ? `SQLite ${sqlite.sqlite}, by ${driver}` : `SQLite: ${sqlite.reason}; ${sqlite.fix}`,
          '',
        ].join('\n'),
      );
    }
    return 0;
  },
});
