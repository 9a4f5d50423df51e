import { z } from 'zod';
import { durationText } from './durationText.ts';
import { configKeys } from './keys.ts';
import { keyMeta } from './keyTypes.ts';
import { configSchema } from './schema.ts';

/** The JSON schema of a configuration file (draft 7, which editors know best), with descriptions, bounds and defaults, and the variables in the descriptions. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(configSchema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    metadata: keyMeta,
    override({ zodSchema, jsonSchema }) {
      const { description, unit, default: value, textInFiles } = keyMeta.get(zodSchema) ?? {};
      if (textInFiles === true) Object.assign(jsonSchema, { anyOf: undefined, type: 'string' });
      for (const key of ['expected', 'secret', 'whole', 'variable', 'usually', 'unit', 'textInFiles'] as const)
        delete jsonSchema[key];
      if (description === '') delete jsonSchema.description;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // zod leaves out the defaults of what is transformed.
      if (unit === 'ms' && typeof value === 'number') jsonSchema.default = durationText(value);
    },
  });
  for (const { path, variable } of configKeys) {
    const node = describedAt(schema as Described, path);
    if (variable === undefined || node === undefined) continue;
    const { description = '' } = node;
    node.description = `${description} (${variable})`.trimStart();
  }
  return { ...schema, title: 'Configuration of unwedge' };
}

/** A part of the schema whose description is still to be completed. */
interface Described {
  description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly anyOf?: readonly Described[];
}

/** The part for a key, that of what can be switched off among them. */
function describedAt(root: Described, path: readonly string[]): Described | undefined {
  return path.reduce<Described | undefined>((node, key) => {
    const choices = node?.anyOf ?? (node === undefined ? [] : [node]);
    return choices.map(({ properties }) => properties?.[key]).find((each) => each !== undefined);
  }, root);
}
