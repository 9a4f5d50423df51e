// Plants one bug after the other in a copy of what is built, and says after how many seeds the simulator has found it.
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { plants } from './plantList.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const usage = `Usage: npm run simulate:plants -- [--seeds N] [--plant NAME]

  --seeds N     how many seeds each may take (default 2000)
  --plant NAME  this one alone, or several with commas: ${plants.map(({ name }) => name).join(', ')}

Exits 1 where more than one in twenty is not found.`;

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '2000' }, plant: { type: 'string' }, help: { type: 'boolean' } },
});
if (values.help) process.stdout.write(`${usage}\n`);
else
  process.exitCode = plantAll(
    plants.filter(({ name }) => values.plant === undefined || values.plant.split(',').includes(name)),
  );

function plantAll(chosen) {
  const copy = join(root, `.build-plants-${process.pid}`);
  cpSync(join(root, '.build'), copy, { recursive: true });
  try {
    const missed = chosen.filter((plant) => !isFound(copy, plant));
    process.stdout.write(
      `${chosen.length - missed.length} of ${chosen.length} are found within ${values.seeds} seeds\n`,
    );
    return missed.length > chosen.length / 20 ? 1 : 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function isFound(copy, { name, what, world = '', also = [], ...place }) {
  const places = [place, ...also].map(({ file, from, to }) => {
    const path = join(copy, file);
    const text = readFileSync(path, 'utf8');
    if (text.split(from).length !== 2)
      throw new Error(`${name}: what it replaces stands ${text.split(from).length - 1} times in ${file}`);
    writeFileSync(
      path,
      text.replace(from, () => to),
    );
    return { path, text };
  });
  const words = [...world.split(' ').filter(Boolean), '--first', '--seeds', values.seeds];
  const { stdout, status } = spawnSync(process.execPath, [join(copy, 'test/simulation/run.js'), ...words], {
    encoding: 'utf8',
    timeout: 1_200_000,
  });
  for (const { path, text } of places.toReversed()) writeFileSync(path, text);
  const [, seed, said] = /^seed (\d+): (.*)/m.exec(stdout) ?? [];
  const found = status === 1 && seed !== undefined;
  process.stdout.write(
    `${found ? `seed ${seed.padStart(4)}` : 'NOT FOUND'}  ${name}: ${what}${found ? ` - ${said.slice(0, 120)}` : ''}\n`,
  );
  return found;
}
