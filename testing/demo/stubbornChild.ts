// Ignores SIGTERM, and so does its child, which has a session of its own. Writes {pid, child} to the file named by its first
// argument once both do.
import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [, , file = ''] = process.argv;
process.on('SIGTERM', () => undefined);
setInterval(() => undefined, 1_000_000);

if (file === 'child') {
  process.send?.('ready');
} else {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'child'], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.once('message', () => {
    // Renamed into place, so that nobody reads half of it.
    writeFileSync(`${file}.new`, JSON.stringify({ pid: process.pid, child: child.pid }));
    renameSync(`${file}.new`, file);
  });
}
