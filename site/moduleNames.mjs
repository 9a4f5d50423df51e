import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Converter, ReflectionKind } from 'typedoc';

const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** Has the reference call each entry as it is imported. */
export function load(app) {
  const names = new Map();
  for (const [entry, { types }] of Object.entries(exports))
    if (types !== undefined) names.set(posix.normalize(types).replace(/^dist\/types\/|\/?index\.d\.ts$|\.d\.ts$/g, ''), posix.join('unwedge', entry));
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module))
      module.name = names.get(module.name === 'index' ? '' : module.name) ?? module.name;
  });
}
