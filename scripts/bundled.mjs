// What of other packages is in ours, which no `npm ls` shows: told in a file of CycloneDX, and asked about with what is installed beside it.
import { readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/**
 * The packages that modules are of, by their folders, in the order of their names.
 * @param {readonly string[]} modules - ids of modules, as the bundler has them.
 */
export function packagesOf(modules) {
  const folders = new Set(modules.map(folderOf).filter((path) => path !== undefined));
  return [...folders].sort((a, b) => a.localeCompare(b));
}

/** The directory of the package that a module is of; undefined when it is ours. */
function folderOf(module) {
  const at = module.lastIndexOf(`${sep}node_modules${sep}`);
  if (at < 0) return undefined;
  const [scope, name] = module.slice(at + `${sep}node_modules${sep}`.length).split(sep);
  return join(module.slice(0, at), 'node_modules', scope.startsWith('@') ? join(scope, name) : scope);
}

/**
 * A bill of materials in the form of CycloneDX 1.6.
 * @param {readonly string[]} folders - of the packages that are built in.
 * @param {{ name: string, version: string, license: string }} own
 */
export function billOf(folders, own) {
  const component = ({ name, version, license }, type) => {
    const [last, group] = name.split('/').reverse();
    const purl = `pkg:npm/${group === undefined ? '' : `${encodeURIComponent(group)}/`}${last}@${version}`;
    return {
      type,
      'bom-ref': purl,
      ...(group && { group }),
      name: last,
      version,
      licenses: [{ license: { id: license } }],
      purl,
    };
  };
  const components = folders.map((folder) =>
    component(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')), 'library'),
  );
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: component(own, 'library') },
    components,
    dependencies: [{ ref: component(own, 'library').purl, dependsOn: components.map(({ purl }) => purl) }],
  };
}
